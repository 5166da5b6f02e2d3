import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { browserTest, look, startPageSandbox, type PageSandbox } from './window.ts';
import { fillForPictures } from './pictured-sandbox.ts';

async function read(sandbox: PageSandbox, path: string): Promise<string> {
  return (await fetch(sandbox.url + path)).text();
}

/** What a part of the page says, without its markup. */
function textOf(markup: string, from: RegExp): string {
  const [part = ''] = from.exec(markup) ?? [];
  return part.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('calls that wait are folded into their number, with the next one first', async () => {
  const sandbox = await startPageSandbox({ concurrency: 1 });
  const numbers = Array.from({ length: 30 }, (_, index) => `+13125550${130 + index}`);
  await sandbox.batch('+12125550109', ...numbers);
  const page = await read(sandbox, '/');
  expect(page.match(/id="live-/g)).toHaveLength(1);
  expect(textOf(page, /<summary>[^]*?<\/summary>/).trim()).toBe('30 calls waiting, next +13125550130');
  const folded = /<details id="waiting">[^]*?<\/details>/.exec(page)?.[0] ?? '';
  const shown = [...folded.matchAll(/<span class="phone num">(\+\d+)<\/span>\s*<\/a>/g)].map(([, to]) => to);
  expect(shown).toEqual(numbers.slice(0, 20));
  expect(folded).toContain('and 10 more calls after these');
  expect(folded).not.toContain(' open');
});

test('a call that is scheduled waits behind those that want a line now', async () => {
  const sandbox = await startPageSandbox({ concurrency: 1 });
  await sandbox.ask('POST', '/v1/convai/batch-calling/submit', {
    call_name: 'Later',
    agent_id: 'agent_reminders',
    agent_phone_number_id: 'pn_main',
    scheduled_time_unix: sandbox.clock.now() / 1000 + 3_600,
    recipients: [{ phone_number: '+13125550130' }],
  });
  expect(textOf(await read(sandbox, '/'), /<details id="waiting">[^]*?<\/summary>/)).toContain('1 call waiting, next');
  await sandbox.batch('+12125550109', '+13125550131');
  const page = await read(sandbox, '/');
  expect(textOf(page, /<summary>[^]*?<\/summary>/).trim()).toBe('2 calls waiting, next +13125550131');
  expect(textOf(page, /<details id="waiting">[^]*?<\/details>/)).toMatch(/\+13125550130 Not yet 13:00:00 UTC/);
});

browserTest('whoever unfolds the waiting calls still sees them when the next one is dialled', async () => {
  const sandbox = await startPageSandbox({ concurrency: 1 });
  await sandbox.batch('+12125550101', '+12125550109', '+13125550130', '+13125550131');
  const { page } = await look(sandbox);
  await page.locator('#link[data-link="on"]').waitFor();
  await page.locator('#waiting summary', { hasText: '3 calls waiting, next +12125550109' }).click();
  await sandbox.advance(60);
  await page.locator('#waiting summary', { hasText: '2 calls waiting, next +13125550130' }).waitFor();
  await page.locator('#waiting tbody tr', { hasText: '+13125550131' }).waitFor();
  expect(await page.locator('#waiting tbody tr').count()).toBe(2);
});

test('columns have plain names', async () => {
  const sandbox = await startPageSandbox();
  await sandbox.batch('+12125550101', '+12125550109');
  await sandbox.advance(60);
  const page = await read(sandbox, '/');
  const heads = [...page.matchAll(/<th scope="col">([^<]+)</g)].map(([, name]) => name);
  for (const name of ['Direction', 'Duration', 'Talk time']) expect(heads).toContain(name);
  for (const name of ['Way', 'For', 'Talk']) expect(heads).not.toContain(name);
  expect(page).toMatch(/<option value="in_progress"\s*>On the line<\/option/);
});

async function startReceiver(answers: number[]): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(answers.shift() ?? 200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

test('deliveries to webhooks are shown with each attempt, its answer, and when the next one is', async () => {
  const sandbox = await startPageSandbox();
  const url = await startReceiver([503]);
  const secret = 'not-to-be-shown-anywhere';
  const { body } = await sandbox.ask('POST', '/_sandbox/webhooks', { url, secret, retries: true });
  await sandbox.ask('POST', '/_sandbox/webhooks', { url: 'http://127.0.0.1:9/hook', secret });
  expect(textOf(await read(sandbox, '/?view=webhooks'), /<main[^]*<\/main>/)).toContain('Nothing was delivered yet');
  await sandbox.batch('+12125550101');
  await sandbox.advance(10);
  const rows = async (): Promise<string[]> => {
    const page = await read(sandbox, '/?view=webhooks');
    expect(page).not.toContain(secret);
    return [...page.matchAll(/<tr id="delivery-[^]*?<\/tr>/g)].map(([row]) => textOf(row, /[^]+/).trim());
  };
  const time = String.raw`\d\d:\d\d:\d\d UTC`;
  const retried = (attempts: string, next: string): RegExp =>
    new RegExp(String.raw`^Nobody answered \S+ \+12125550101 ${url.replaceAll('/', ' ?/')} ${attempts} ${next}$`);
  await expect
    .poll(rows)
    .toEqual([
      expect.stringMatching(retried(`${time} status 503`, time)),
      expect.stringMatching(/Failed .*127\.0\.0\.1:9 \/hook .* no answer : ECONNREFUSED None$/),
    ]);
  await sandbox.advance(60);
  await expect.poll(async () => (await rows())[0]).toMatch(retried(`${time} status 503 ${time} status 200`, 'None'));
  const own = await read(sandbox, `/?view=webhooks&webhook=${body.webhook_id}`);
  expect(own.match(/id="delivery-/g)).toHaveLength(1);
  expect(own).toContain(body.webhook_id);
});

browserTest('the answer of a webhook appears on a page whose clock stands', async () => {
  const sandbox = await startPageSandbox();
  const url = await startReceiver([]);
  await sandbox.ask('POST', '/_sandbox/webhooks', { url, secret: 'not-to-be-shown-anywhere' });
  const { page } = await look(sandbox, '/?view=webhooks');
  await page.locator('#link[data-link="on"]').waitFor();
  await sandbox.batch('+12125550101');
  await sandbox.advance(10);
  await page.locator('tr[id^="delivery-"]').getByText('Delivered').waitFor();
});

test('without a webhook the page says how to make one, and in the spec dialect that there is none', async () => {
  const view = async (sandbox: PageSandbox): Promise<string> => textOf(await read(sandbox, '/?view=webhooks'), /<main[^]*<\/main>/);
  expect(await view(await startPageSandbox())).toContain('POST /_sandbox/webhooks');
  expect(await view(await startPageSandbox({ dialect: 'spec' }))).toContain('The contract has none');
});

test('the sandbox accepts all that is asked of it for the pictures, its faults included', async () => {
  const sandbox = await startPageSandbox({ seed: 'pictures', concurrency: 8 });
  await fillForPictures(sandbox);
  expect(await read(sandbox, '/?view=faults')).toContain('Agents are slow to load');
});
