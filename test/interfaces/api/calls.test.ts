import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyLog } from '../../../src/verify/log.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { ApiWorld } from './api-world.ts';
import { recordOneCall, serve, serviceKey } from './call-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { holds, problem } from '../../support/answers.ts';
import { ConsoleWorld } from '../console/console-world.ts';

const spring = 'GET /campaigns/spring/rows';

async function openWorld(record: (url: string) => object | null, audio?: (response: ServerResponse, headers: IncomingHttpHeaders) => void) {
  const { store, settings, ...made } = await recordOneCall(record, audio);
  return { world: await ApiWorld.over(store, { settings }), store, ...made };
}

const said = {
  transcript: [
    { role: 'agent', message: 'Good morning.', time_in_call_secs: 1 },
    { role: 'user', message: 'Hello?', time_in_call_secs: 3 },
    { role: 'user', message: null },
  ],
};

test('a transcript tells who said what, and the log who has read it', async () => {
  const { world, store, acts } = await openWorld(() => said);
  const { status, body } = await world.ask(`${spring}/1/calls/1/transcript`, { role: 'operate' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ campaignId: 'spring', row: 1, call: 1, conversationId: 'conv_1', startedAt: null });
  expect(body.turns).toEqual([
    { speaker: 'agent', text: 'Good morning.', time: 1 },
    { speaker: 'user', text: 'Hello?', time: 3 },
    { speaker: 'user', text: null, time: null },
  ]);
  expect(await acts()).toEqual(['transcript_shown']);
  const story = await world.ask(`${spring}/1/story`);
  expect(JSON.stringify(story.body)).toContain('operate console: transcript shown, call 1');
  expect((await verifyLog(store.db, null)).ok).toBe(true);
});

test('a call that is not there, goes on or was deleted has no transcript, and nobody is said to have read one', async () => {
  const { world, acts } = await openWorld(() => null);
  const ask = (path: string) => world.ask(`${spring}/${path}/transcript`, { role: 'operate' });
  expect(await ask('1/calls/2')).toMatchObject(problem(404, 'no_record'));
  expect(await ask('99/calls/1')).toMatchObject(problem(404, 'no_record'));
  // Called, without a known conversation.
  expect(await ask('2/calls/1')).toMatchObject(problem(409, 'call_open'));
  const deleted = await ask('1/calls/1');
  expect(deleted).toMatchObject(problem(404, 'no_record', /has deleted/));
  await world.store.db.updateTable('conversations').set({ final: 0 }).execute();
  expect(await ask('1/calls/1')).toMatchObject(problem(409, 'call_open'));
  expect(await acts()).toEqual([]);
});

test('a recording at the service is fetched with its key', async () => {
  const { world, service, acts } = await openWorld(
    (url) => ({ audio: `${url}/conv_1.wav` }),
    (response) => response.writeHead(200, { 'content-type': 'audio/wav; rate=8000' }).end('RIFF and so on'),
  );
  const answer = await world.ask(`${spring}/1/calls/1/recording`, { role: 'operate' });
  expect(answer).toMatchObject({ status: 200, body: 'RIFF and so on' });
  expect(answer.headers).toMatchObject({
    'content-type': 'audio/wav',
    'content-disposition': 'attachment; filename="spring-row-1-call-1.wav"',
    'x-content-type-options': 'nosniff',
  });
  expect(service.asked.at(-1)?.headers['x-api-key']).toBe(serviceKey);
  expect(await acts()).toEqual(['recording_shown']);
});

test('a player fetches a recording in parts, and the log has one line of it', async () => {
  const { world, service, acts } = await openWorld(
    (url) => ({ audio: `${url}/conv_1.wav` }),
    (response, { range }) => {
      if (range === 'bytes=99-') return response.writeHead(416, { 'content-range': 'bytes */10' }).end('none');
      response.writeHead(206, { 'content-type': 'audio/wav', 'content-range': 'bytes 4-6/10', 'accept-ranges': 'bytes' });
      return response.end('and');
    },
  );
  const fetchPart = (range: string) => world.ask(`${spring}/1/calls/1/recording`, { role: 'operate', headers: { range } });
  const part = await fetchPart('bytes=4-6');
  expect(part).toMatchObject({
    status: 206,
    body: 'and',
    headers: { 'content-type': 'audio/wav', 'content-range': 'bytes 4-6/10', 'accept-ranges': 'bytes' },
  });
  expect(service.asked.at(-1)?.headers.range).toBe('bytes=4-6');
  await fetchPart('bytes=7-9');
  expect(await fetchPart('bytes=99-')).toMatchObject(problem(404, 'no_record'));
  expect(await acts()).toEqual(['recording_shown']);
  world.at += 15 * minuteMs;
  await fetchPart('bytes=0-');
  await world.ask(`${spring}/1/calls/1/recording`);
  expect(await acts()).toHaveLength(3);
});

test('a recording elsewhere is fetched without the key, and is never handed on as a page', async () => {
  const other = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<script>1</script>'));
  const { world } = await openWorld(() => ({ audio: `${other.url}/conv_1.wav` }));
  const answer = await world.ask(`${spring}/1/calls/1/recording`, { role: 'operate' });
  expect(answer.headers['content-type']).toBe('application/octet-stream');
  expect(other.asked).toHaveLength(1);
  expect(JSON.stringify(other.asked)).not.toContain(serviceKey);
});

test('a recording that is not there, or may not be fetched from where it is, is refused, and nobody is said to have heard it', async () => {
  let audio: string | null = null;
  const { world, acts } = await openWorld(() => ({ audio }));
  const ask = () => world.ask(`${spring}/1/calls/1/recording`, { role: 'operate' });
  expect(await ask()).toMatchObject(problem(404, 'no_record'));
  // In the clear, a file, no address, and an address without listener.
  for (audio of ['http://recordings.example/1.wav', 'file:///etc/passwd', 'conv_1', 'http://127.0.0.1:1/1.wav'])
    expect([audio, await ask()]).toMatchObject([audio, problem(503, 'service_unusable')]);
  expect(await acts()).toEqual([]);
});

test('a recording that leads to another address with the key is not followed', async () => {
  const other = await serve((_, response) => response.end());
  const { world } = await openWorld(
    (url) => ({ audio: `${url}/conv_1.wav` }),
    (response) => response.writeHead(302, { location: other.url }).end(),
  );
  expect(await world.ask(`${spring}/1/calls/1/recording`)).toMatchObject({ status: 503 });
  expect(other.asked).toEqual([]);
});

test('the evidence of a row is downloaded, whole and signed, and the log says so', async () => {
  const { world, store, acts } = await openWorld(() => said);
  expect(await world.ask(`${spring}/99/evidence.zip`)).toMatchObject(problem(404, 'unknown_row'));
  expect(await acts()).toEqual([]);
  const { rawPayload, headers } = await world.app.inject({
    url: '/api/v1/campaigns/spring/rows/1/evidence.zip?with_conversations=true',
    headers: { authorization: `Bearer ${world.tokenText('operate')}` },
  });
  const disposition = 'attachment; filename="spring-row-1-evidence.zip"';
  expect(headers).toMatchObject({ 'content-type': 'application/zip', 'content-disposition': disposition });
  const path = join(temporaryFolder(), 'bundle.zip');
  writeFileSync(path, rawPayload);
  const checked = spawnSync(process.execPath, ['src/presentation/evidence/check.mjs', path], { encoding: 'utf8' });
  expect(checked, checked.stderr).toMatchObject({ status: 0 });
  const missing = 'Not part of this bundle: There is no recording of call 1 of row 1';
  holds(rawPayload.toString('latin1'), ['conversations/spring-row-1-call-1.txt', 'agent: Good morning.', missing]);
  expect(await acts()).toEqual(['evidence_exported_with_conversations']);
  expect((await verifyLog(store.db, null)).ok).toBe(true);
  const page = await (await ConsoleWorld.over(store)).text('/campaigns/spring/rows/1');
  expect(page).toContain('href="/campaigns/spring/rows/1/evidence.zip"');
});
