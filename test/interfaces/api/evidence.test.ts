import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifyLog } from '../../../src/verify/log.ts';
import { ConsoleWorld } from '../console/console-world.ts';
import { ApiWorld } from './api-world.ts';
import { recordOneCall } from './call-service.ts';

const evidence = 'GET /api/v1/campaigns/spring/rows/1/evidence.zip';
const said = { transcript: [{ role: 'agent', message: 'Good morning.', time_in_call_secs: 1 }] };

test('whoever may operate downloads the evidence of a row, whole and signed, and the log says so', async () => {
  const { store, settings, acts } = await recordOneCall(() => said);
  const world = await ApiWorld.over(store, { settings });
  expect(await world.ask(evidence, { role: 'read' })).toMatchObject({ status: 403 });
  expect(await world.ask('GET /api/v1/campaigns/spring/rows/99/evidence.zip')).toMatchObject({
    status: 404,
    body: { code: 'unknown_row' },
  });
  expect(await acts()).toEqual([]);
  const answer = await world.app.inject({
    url: `${evidence.slice('GET '.length)}?with_conversations=true`,
    headers: { authorization: `Bearer ${world.tokenText('operate')}` },
  });
  expect(answer.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="spring-row-1-evidence.zip"',
  });
  const folder = mkdtempSync(join(tmpdir(), 'carillon-evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'bundle.zip');
  writeFileSync(path, answer.rawPayload);
  const checked = spawnSync(process.execPath, ['src/presentation/evidence/check.mjs', path], { encoding: 'utf8' });
  expect(checked, checked.stderr).toMatchObject({ status: 0 });
  const text = answer.rawPayload.toString('latin1');
  expect(text).toContain('conversations/spring-row-1-call-1.txt');
  expect(text).toContain('agent: Good morning.');
  // What the service has not is told in its place.
  expect(text).toContain('Not part of this bundle: There is no recording of call 1 of row 1');
  expect(await acts()).toEqual(['evidence_exported_with_conversations']);
  expect((await verifyLog(store.db, null)).ok).toBe(true);
  const page = await (await ConsoleWorld.over(store)).get('/campaigns/spring/rows/1');
  expect(page.text).toContain('href="/campaigns/spring/rows/1/evidence.zip"');
});
