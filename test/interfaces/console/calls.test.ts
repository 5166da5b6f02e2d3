import { expect, test } from 'vitest';
import { recordOneCall } from '../api/call-service.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { ConsoleWorld } from './console-world.ts';
import { holds, told } from '../../support/answers.ts';

const attack = `<script>alert(1)</script>"'&${poison}`;
const row = '/campaigns/spring/rows/1';
const call = `${row}/calls/1`;

async function openConsole(...service: Parameters<typeof recordOneCall>) {
  const { store, settings, ...made } = await recordOneCall(...service);
  return { console: await ConsoleWorld.over(store, settings), store, settings, ...made };
}

test('a call leads from its row to what was said in it and to its recording, and the log says who looked', async () => {
  const { console, service, acts } = await openConsole((url) => ({
    audio: `${url}/conv_1.wav`,
    transcript: [
      { speaker: 'agent', text: 'Good morning.', timestamp: '2030-01-15T12:00:05Z' },
      { role: 'user', message: 'Hello?', time_in_call_secs: 63 },
      { role: 'tool', message: null },
    ],
  }));
  const person = await console.get(row);
  expect(person.text).toContain(`href="${call}"`);
  expect(service.asked).toEqual([]);
  const { status, text } = await console.get(call);
  expect(status).toBe(200);
  holds(text, [
    /class="agent" data-seconds="">\s*<div>[\s\S]*?datetime="2030-01-15T12:00:05.000Z"[\s\S]*?Agent[\s\S]*?Good morning\./,
    /class="callee" data-seconds="63">\s*<a href="#t=63">[\s\S]*?1:03[\s\S]*?Person[\s\S]*?Hello\?/,
    /class="other" data-seconds="">\s*<div>[\s\S]*?tool[\s\S]*?no words/,
    `<audio id="recording" controls preload="none" src="${call}/recording">`,
  ]);
  // Never reopened automatically: each opening is logged.
  holds(text, ['data-follows=""', 'data-again=""']);
  expect(await acts()).toEqual(['transcript_shown']);
  expect(await console.text(row)).toContain('operate console: transcript shown, call 1');
});

test('what agents and callers have said is text on the page, and nothing else', async () => {
  const { console } = await openConsole(() => ({
    transcript: [
      { speaker: attack, text: `${attack}\nsecond line`, timestamp: attack },
      { speaker: 'constructor', text: attack, time_in_call_secs: 1e300 },
    ],
    metadata: { call_result: attack },
  }));
  const { status, text } = await console.get(call);
  expect(status).toBe(200);
  holds(text, ['&lt;script&gt;alert(1)', 'second line'], ['<script>alert']);
  expect(text.replaceAll(/[\n]/g, '')).not.toMatch(obeyed);
});

test('a recording is played with the session of the page, in parts, and is told in the log', async () => {
  const { console, service, acts } = await openConsole(
    (url) => ({ audio: `${url}/conv_1.wav` }),
    (response) => response.writeHead(206, { 'content-type': 'audio/wav', 'content-range': 'bytes 0-3/9', 'x-secret': '1' }).end('RIFF'),
  );
  const { status, headers, text } = await console.get(`${call}/recording`, 'operate', { range: 'bytes=0-3' });
  expect({ status, text }).toEqual({ status: 206, text: 'RIFF' });
  expect(headers).toMatchObject({ 'content-type': 'audio/wav', 'content-range': 'bytes 0-3/9' });
  expect(headers['content-security-policy']).toContain("media-src 'self'");
  expect(headers).not.toHaveProperty('x-secret');
  expect(service.asked.at(-1)?.headers['range']).toBe('bytes=0-3');
  expect(await acts()).toEqual(['recording_shown']);
});

test('whoever may only look has no link to what was said, reads nothing, and nothing is asked or told', async () => {
  const { console, service, acts } = await openConsole(() => ({ transcript: [{ role: 'user', message: 'a secret' }] }));
  expect(await console.text(row, 'read')).not.toContain('/calls/');
  for (const path of [call, `${call}/recording`]) {
    const { status, text } = await console.get(path, 'read');
    expect([path, status]).toEqual([path, 403]);
    holds(text, ['operate'], ['a secret']);
  }
  expect(service.asked).toEqual([]);
  expect(await acts()).toEqual([]);
});

test('a call without a record says why and what to do, and nobody is said to have read one', async () => {
  const { console, store, acts } = await openConsole(() => null);
  expect(await console.get(call)).toMatchObject(told(404, 'has deleted the record'));
  expect(await console.get(`${row}/calls/2`)).toMatchObject(told(404, 'There is no'));
  expect(await console.get(`${row}/calls/1e3`)).toMatchObject({ status: 404 });
  expect(await console.get('rows/99/calls/1')).toMatchObject({ status: 404 });
  const open = await console.get('rows/2/calls/1');
  expect(open).toMatchObject(told(409, 'is not complete yet'));
  expect(open.text).toContain('data-follows="spring"');
  await store.db.updateTable('conversations').set({ gone: 1 }).execute();
  expect(await console.text(call)).toContain('has deleted the record');
  expect(await acts()).toEqual([]);
});

test('while the service is silent the page says so and what to do, and a record without a recording is no error', async () => {
  const silent = await openConsole(() => ({}));
  const console = await ConsoleWorld.over(silent.store, { ...silent.settings, SVC_BASE_URL: 'http://127.0.0.1:1' });
  const { status, text } = await console.get(call);
  expect(status).toBe(503);
  holds(text, ['cannot be reached', 'Load this page again later.']);
  expect(await silent.acts()).toEqual([]);
  const bare = await silent.console.get(call);
  expect(bare.status).toBe(200);
  holds(bare.text, ['Nothing was said'], ['<audio']);
  expect(await silent.console.get(`${call}/recording`)).toMatchObject(told(404, 'There is no recording'));
});
