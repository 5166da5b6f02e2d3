import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';

const folder = new URL('./histories/', import.meta.url);
const histories = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({
    workflowId: name,
    history: historyFromJSON(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))),
  }));

let bundle: { code: string };
beforeAll(async () => {
  bundle = await bundleWorkflows();
});

async function replay(workflowBundle: { code: string }): Promise<{ name: string; error: Error | undefined }[]> {
  const results = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    results.push({ name: workflowId, error });
  }
  return results;
}

test('every recorded campaign replays with the workflow as it is', async () => {
  const results = await replay(bundle);
  expect(results.length).toBeGreaterThanOrEqual(2);
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
});

test('replaying notices a workflow that does something else', async () => {
  const broken = await bundleWorkflows(fileURLToPath(new URL('./broken-workflow.ts', import.meta.url)));
  const results = await replay(broken);
  expect(results.length).toBe(histories.length);
  for (const { error } of results) expect(error).toBeInstanceOf(DeterminismViolationError);
});

test('recorded histories hold ids and counts, and no phone number', () => {
  for (const name of readdirSync(folder)) {
    const json = readFileSync(new URL(name, folder), 'utf8');
    const payloads = [...json.matchAll(/"data": "([A-Za-z0-9+/=]+)"/g)].map(([, data]) =>
      Buffer.from(data ?? '', 'base64').toString(),
    );
    expect(payloads.length).toBeGreaterThan(10);
    expect(payloads.filter((text) => text.includes('555'))).toEqual([]);
  }
});
