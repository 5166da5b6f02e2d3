import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';

const folder = new URL('./histories/', import.meta.url);
const texts = new Map(readdirSync(folder).map((name) => [name, gunzipSync(readFileSync(new URL(name, folder))).toString()]));
const histories = [...texts].map(([workflowId, json]) => ({ workflowId, history: historyFromJSON(JSON.parse(json)) }));

async function replay(workflowBundle: { code: string }): Promise<{ name: string; error: Error | undefined }[]> {
  const results = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle, sinks: { exporter: { export: { fn: () => {} } } } },
    histories,
  )) {
    results.push({ name: workflowId, error });
  }
  return results;
}

test.each([{ isTraced: false }, { isTraced: true }])('every recorded campaign replays with the workflow as it is: %o', async (options) => {
  const results = await replay(await bundleWorkflows(options));
  expect(results.length).toBe(histories.length);
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
});

test.each([
  { name: 'continued', holds: ['WORKFLOW_EXECUTION_CONTINUED_AS_NEW'] },
  { name: 'cancelled-in-temporal', holds: ['WORKFLOW_EXECUTION_CANCEL_REQUESTED', 'WORKFLOW_EXECUTION_COMPLETED'] },
  { name: 'refused', holds: ['START_CHILD_WORKFLOW_EXECUTION_INITIATED', 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'] },
  { name: 'fired', holds: ['CHILD_WORKFLOW_EXECUTION_COMPLETED'] },
  { name: 'firing-failed', holds: ['ACTIVITY_TASK_FAILED', 'WORKFLOW_EXECUTION_FAILED'] },
  { name: 'delivered', holds: ['WORKFLOW_EXECUTION_SIGNALED', 'ACTIVITY_TASK_CANCEL_REQUESTED'] },
  { name: 'notice-failed', holds: ['ACTIVITY_TASK_FAILED', 'WORKFLOW_EXECUTION_COMPLETED'] },
])('the history $name holds what its branch is about', ({ name, holds }) => {
  const json = texts.get(`${name}.json.gz`);
  for (const event of holds) expect(json).toContain(`"EVENT_TYPE_${event}"`);
});

test('replaying notices a workflow that does something else', async () => {
  const broken = await bundleWorkflows({ workflowsPath: fileURLToPath(new URL('./broken-workflow.ts', import.meta.url)) });
  const results = await replay(broken);
  expect(results.length).toBe(histories.length);
  for (const { error } of results) expect(error).toBeInstanceOf(DeterminismViolationError);
});

test('recorded histories hold ids and counts, and no phone number', () => {
  for (const json of texts.values()) {
    const payloads = [...json.matchAll(/"data": "([A-Za-z0-9+/=]+)"/g)].map(([, data]) => Buffer.from(data ?? '', 'base64').toString());
    expect(payloads.length).toBeGreaterThan(2);
    expect(payloads.filter((text) => text.includes('555'))).toEqual([]);
  }
});
