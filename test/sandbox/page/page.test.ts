import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { html } from '../../../src/presentation/html/html.ts';
import { apiKey, fillSandbox, ownKey, startPageSandbox, type PageSandbox } from './window.ts';

const folders = ['sandbox/page', 'presentation/html'].map((at) => new URL(`../../../src/${at}/browser/`, import.meta.url));
const files = new Map(folders.flatMap((folder) => readdirSync(folder).map((name) => [name, new URL(name, folder)])));
const scripts = [...files.keys()].filter((name) => name.endsWith('.js'));
const assets = ['page.css', 'icon.svg', ...scripts].map((name) => `/_page/${name}`);
const controlToken = 'token-of-the-page-test-0123';

async function read(sandbox: PageSandbox, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(sandbox.url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('every value in markup is escaped, in text and in attributes, and markup is not', () => {
  const hostile = `<script>alert("x")</script>&'`;
  const escaped = '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;';
  expect(html`<p title="${hostile}">${hostile}${html`<b>${hostile}</b>`}${[hostile, 1, null, false]}</p>`.text).toBe(
    `<p title="${escaped}">${escaped}<b>${escaped}</b>${escaped}1</p>`,
  );
});

test('every view is a page of its own, and says so in its status when what it is asked for is not there', async () => {
  const sandbox = await startPageSandbox();
  for (const path of await fillSandbox(sandbox)) {
    const { status, headers, text } = await read(sandbox, path);
    expect([path, status]).toEqual([path, path.endsWith('nothing') ? 404 : 200]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).toContain('<h1>');
  }
  for (const gone of ['call', 'agent', 'request']) {
    expect((await read(sandbox, `/?view=${gone}&id=none`)).status).toBe(404);
  }
  expect((await read(sandbox, '/?view=toString')).status).toBe(404);
});

test('the page allows nothing from elsewhere, nothing inline and no frame around it', async () => {
  const sandbox = await startPageSandbox();
  const views = await fillSandbox(sandbox);
  for (const path of [...views, ...assets]) {
    const { headers, text } = await read(sandbox, path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:|blob:/);
    expect(text).not.toMatch(/<script(?![^>]* src="\/_page\/(?:page|idiomorph)\.js")|<style|\sstyle=|\son\w+="|javascript:/i);
    const addresses = [...text.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address);
    for (const address of addresses) expect(address).toMatch(/^[/#]/);
  }
});

test('every script of the page is served as it stands in its file', async () => {
  const sandbox = await startPageSandbox();
  expect(scripts).toContain('page.js');
  for (const name of scripts) {
    const { status, headers, text } = await read(sandbox, `/_page/${name}`);
    expect([name, status, headers.get('content-type')]).toEqual([name, 200, 'text/javascript; charset=utf-8']);
    expect(text).toBe(readFileSync(files.get(name) ?? '', 'utf8'));
  }
});

test('no API key is in the page, its script or its data, not even where a request or a fault named one', async () => {
  const sandbox = await startPageSandbox();
  const views = await fillSandbox(sandbox);
  await sandbox.ask('GET', `/v1/convai/agents?api_key=${ownKey}`);
  await sandbox.ask('POST', '/v1/convai/agents', { name: `The key is ${apiKey}`, note: ownKey });
  const told = sandbox.journal().flatMap(({ sequence }) => `/?view=request&id=${sequence}`);
  for (const path of [...views, ...told, ...assets, '/_sandbox/page?view=journal']) {
    const { text } = await read(sandbox, path);
    for (const key of [apiKey, ownKey]) expect(text.includes(key), `${path} holds a key`).toBe(false);
  }
});

test('secrets of an agent and of a number are not shown', async () => {
  const sandbox = await startPageSandbox();
  const secret = 'not-to-be-shown-anywhere';
  const { body } = await sandbox.ask('POST', '/v1/convai/agents', {
    name: 'With a model of its own',
    conversation_config: {
      agent: {
        llm: { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:9/v1', extra_headers: { 'x-pass': secret } } },
      },
    },
  });
  await sandbox.ask('POST', '/v1/convai/phone-numbers', {
    label: 'Imported',
    phone_number: '+12125550142',
    telephony_account_sid: 'AC0',
    telephony_auth_token: secret,
  });
  const requests = sandbox.journal().map(({ sequence }) => `/?view=request&id=${sequence}`);
  const agent = await read(sandbox, `/?view=agent&id=${body.agent_id}`);
  expect(agent.text).toContain('x-pass');
  for (const path of [`/?view=agent&id=${body.agent_id}`, '/?view=numbers', ...requests])
    expect((await read(sandbox, path)).text.includes(secret), path).toBe(false);
});

test('with a control token the page is empty, and its data is given for the token only', async () => {
  const sandbox = await startPageSandbox({ controlToken });
  await sandbox.batch('+12125550100');
  const empty = await read(sandbox, '/?view=agents');
  expect([empty.status, empty.text.includes('Control token')]).toEqual([200, true]);
  expect(empty.text).not.toMatch(/agent_reminders|Appointment|2125550100|2030/);
  expect(empty.text).not.toContain(controlToken);
  expect((await read(sandbox, '/_sandbox/page')).status).toBe(401);
  expect((await read(sandbox, '/_sandbox/page', { authorization: 'Bearer something-else-entirely' })).status).toBe(401);
  const given = await read(sandbox, '/_sandbox/page', { authorization: `Bearer ${controlToken}` });
  expect([given.status, given.text.includes('+12125550100')]).toEqual([200, true]);
  expect(given.text).not.toContain(controlToken);
  for (const path of assets) expect((await read(sandbox, path)).status).toBe(200);
});

test('looking at the page stands in no journal and is nothing that the caller did', async () => {
  const sandbox = await startPageSandbox();
  const views = await fillSandbox(sandbox);
  const before = sandbox.journal().length;
  const { checks } = sandbox.conduct();
  for (const path of [...views, ...assets, '/openapi.json', '/_sandbox/page']) await read(sandbox, path);
  const call = await read(sandbox, views[1] ?? '');
  const recording = /src="(\/_page\/recordings\/[^"]+)"/.exec(call.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await read(sandbox, recording)).headers.get('content-type')).toBe('audio/wav');
  expect(sandbox.journal()).toHaveLength(before);
  expect(sandbox.conduct().checks).toEqual(checks);
});

test('a recording opens for its signed address only', async () => {
  const sandbox = await startPageSandbox({ controlToken });
  await sandbox.batch('+12125550100');
  await sandbox.advance(3600);
  const [call] = sandbox.calls();
  expect((await read(sandbox, `/_page/recordings/${call?.conversationId}`)).status).toBe(401);
  expect((await read(sandbox, `/_page/recordings/${call?.conversationId}?expires=99999999999&signature=AAAA`)).status).toBe(403);
});

test('what was said is not shown before it is said, nor after the record was deleted', async () => {
  const sandbox = await startPageSandbox();
  await sandbox.batch('+12125550100');
  const view = async () => (await read(sandbox, `/?view=call&id=${sandbox.calls()[0]?.callId}`)).text;
  const turns = async () => (await view()).match(/class="said"/g)?.length ?? 0;
  expect(await turns()).toBe(0);
  await sandbox.advance(12);
  const early = await turns();
  await sandbox.advance(3600);
  const all = await turns();
  expect(early).toBeGreaterThan(0);
  expect(early).toBeLessThan(all);
  await sandbox.ask('DELETE', `/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`);
  expect(await turns()).toBe(0);
  expect(await view()).toContain('was deleted');
  expect(await view()).not.toContain('<audio');
});

test('calls are filtered by state, batch and number, and come page by page', async () => {
  const sandbox = await startPageSandbox({ concurrency: 100 });
  const first = await sandbox.batch('+12125550100', '+12125550101');
  const many = Array.from({ length: 60 }, (_, index) => `+1312555${String(100 + index).padStart(4, '0')}`);
  await sandbox.batch(...many.filter((number) => !number.endsWith('0120')));
  await sandbox.advance(7200);
  const numbers = async (query: string) =>
    [...(await read(sandbox, `/?view=calls${query}`)).text.matchAll(/id="call-[^"]+"[\s\S]*?>(\+\d+)</g)].map(([, to]) => to);
  expect(await numbers(`&batch=${first}`)).toEqual(['+12125550101', '+12125550100']);
  expect(await numbers('&number=2125550101')).toEqual(['+12125550101']);
  expect(await numbers('&state=queued')).toEqual([]);
  const pages = [...(await numbers('')), ...(await numbers('&skip=50'))];
  expect(await numbers('')).toHaveLength(50);
  expect(pages).toEqual(
    sandbox
      .calls()
      .map(({ to }) => to)
      .toReversed(),
  );
});
