import type { Route } from 'playwright-core';
import { expect, vi } from 'vitest';
import { imported } from '../harness.ts';
import { browserTest, look, startPageSandbox } from './window.ts';

const slow = { timeout: 240_000, interval: 50 };
const liveLink = '.live[data-link="on"]:visible';
const controlToken = 'token-of-the-page-test-0123';

browserTest('a call appears, is picked up and ends on a page that is never loaded again', async ({ sandbox }) => {
  const { page } = await look(sandbox);
  await page.locator(liveLink).waitFor();
  await page.getByText('No one is on the line').waitFor();
  await page.evaluate('window.loadedOnce = true');
  await sandbox.batch('+12125550100');
  const row = page.locator('tr[id^="live-"]', { hasText: '+12125550100' });
  await row.getByText('Dialing').waitFor();
  await sandbox.advance(12);
  await row.getByText('On the line').waitFor();
  await page.locator('#views .count.is-live', { hasText: '1' }).waitFor();
  await sandbox.advance(3600);
  await row.waitFor({ state: 'detached' });
  await page.locator('tr[id^="call-"]', { hasText: '+12125550100' }).getByText('Done').waitFor();
  expect(await page.evaluate('window.loadedOnce')).toBe(true);
});

browserTest('a call that lasts is counted on by the page while its clock runs, and its transcript grows', async ({ sandbox }) => {
  await sandbox.batch('+12125550109');
  await sandbox.advance(12);
  const { page } = await look(sandbox, `/?view=call&id=${sandbox.calls()[0]?.callId}`);
  const turns = page.locator('.transcript li');
  const early = await turns.count();
  await sandbox.ask('PUT', '/_sandbox/clock', { mode: 'scaled', speed: 20 });
  await vi.waitFor(async () => expect(await turns.count()).toBeGreaterThan(early), slow);
  await page.goto(sandbox.url);
  const lasted = page.locator('[data-since]').first();
  const before = await lasted.textContent();
  await vi.waitFor(async () => expect(await lasted.textContent()).not.toBe(before), slow);
  const clock = await page.locator('#clock-now').textContent();
  await vi.waitFor(async () => expect(await page.locator('#clock-now').textContent()).not.toBe(clock), slow);
});

browserTest('a conversation has its transcript, and a recording that plays', async ({ sandbox }) => {
  await sandbox.batch('+12125550100');
  await sandbox.advance(3600);
  const { page } = await look(sandbox);
  await page.locator('tr[id^="call-"] a', { hasText: '+12125550100' }).click();
  const { body } = await sandbox.ask('GET', `/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`);
  const said = body.transcript.map(({ text }: { text: string }) => text);
  await page
    .locator('.transcript .said')
    .nth(said.length - 1)
    .waitFor();
  expect(await page.locator('.transcript .said').allTextContents()).toEqual(said);
  const audio = async (property: string) => Number(await page.evaluate(`document.querySelector('audio').${property}`));
  await vi.waitFor(async () => expect(await audio('duration')).toBeGreaterThan(0), slow);
  expect(Math.abs((await audio('duration')) - body.metadata.duration)).toBeLessThan(2);
  await page.evaluate("document.querySelector('audio').muted = true; document.querySelector('audio').play()");
  await vi.waitFor(async () => expect(await audio('currentTime')).toBeGreaterThan(0), slow);
  // Days of service time pass in seconds; the playing recording goes on.
  await sandbox.advance(24 * 3600);
  await page.locator('#clock-now', { hasText: '16 Jan 2030' }).waitFor();
  const heard = await audio('currentTime');
  expect(heard).toBeGreaterThan(0);
  await vi.waitFor(async () => expect(await audio('currentTime')).toBeGreaterThan(heard), slow);
});

browserTest(
  'a fault that is switched on hits the next request, and off none; a rule is added, and a broken one refused in words',
  async ({ sandbox }) => {
    const { page } = await look(sandbox, '/?view=faults');
    const gateway = page.getByRole('switch', { name: 'A page of the gateway' });
    expect(await gateway.getAttribute('aria-checked')).toBe('false');
    await gateway.click();
    await page.getByRole('switch', { name: 'A page of the gateway', checked: true }).waitFor();
    expect((await sandbox.ask('GET', '/v1/convai/agents')).status).toBe(502);
    await page.getByText('1 hit of 1').waitFor();
    await gateway.click();
    await page.getByRole('switch', { name: 'A page of the gateway', checked: false }).waitFor();
    expect((await sandbox.ask('GET', '/v1/convai/agents')).status).toBe(200);
    await page.locator('#rule').fill('{ nonsense');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await page.locator('#notice').getByText('This is not JSON').waitFor();
    await page.locator('#rule').fill('{"operation": 1, "effect": {"type": "error", "status": 503}}');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await page.getByRole('switch', { name: 'fault_1', checked: true }).waitFor();
    expect((await sandbox.ask('POST', '/v1/convai/agents', { name: 'Any' })).status).toBe(503);
  },
);

browserTest('a clock that stands is moved on by the page, and made to run', async ({ sandbox }) => {
  const { page } = await look(sandbox, '/?view=control');
  const start = sandbox.clock.now();
  await page.locator('#clock-steps').getByRole('button', { name: '+10 min' }).click();
  await page.locator('#clock-now', { hasText: '13:10:00' }).waitFor();
  expect(sandbox.clock.now()).toBe(start + 600_000);
  await page.locator('input[name="until"]').fill('2030-01-16T09:00:00');
  await page.getByRole('button', { name: 'Move on', exact: true }).click();
  await page.locator('#clock-now', { hasText: '16 Jan 2030, 09:00:00' }).waitFor();
  expect(sandbox.clock.now()).toBe(Date.UTC(2030, 0, 16, 8));
  await page.locator('input[name="speed"]').fill('50');
  await page.getByRole('button', { name: 'Set speed' }).click();
  await page.locator('#clock', { hasText: '50 × real time' }).waitFor();
  expect(sandbox.clock.speed).toBe(50);
});

browserTest('a call is hung up, somebody calls in, and a number is verified', async ({ sandbox }) => {
  await sandbox.batch('+12125550109');
  await sandbox.advance(12);
  const { page } = await look(sandbox);
  await page.getByRole('button', { name: 'Hang up +12125550109' }).click();
  await page.getByText('No one is on the line').waitFor();
  await page
    .getByRole('link', { name: /^Numbers/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Verify +14155550197' }).click();
  await page.getByRole('button', { name: 'Unverify +14155550197' }).waitFor();
  await page.locator('select').selectOption('pn_unverified');
  await page.getByRole('button', { name: 'Call in' }).click();
  await page.locator('#notice.error', { hasText: 'Nobody answered' }).waitFor();
  await page.locator('select').selectOption('pn_main');
  await page.getByRole('button', { name: 'Call in' }).click();
  await page.locator('#views .count.is-live', { hasText: '1' }).waitFor();
});

browserTest('a click waits for the script that sends it', async ({ sandbox }) => {
  const { page } = await look(sandbox);
  const held = new Promise<Route>((resolve) => void page.route('**/page.js', resolve));
  await page.goto(`${sandbox.url}/?view=numbers`, { waitUntil: 'commit' });
  const verify = page.getByRole('button', { name: 'Verify +14155550197', exact: true });
  await verify.scrollIntoViewIfNeeded();
  const { x = 0, y = 0, width = 0, height = 0 } = (await verify.boundingBox()) ?? {};
  expect(await page.evaluate(`document.elementFromPoint(${x + width / 2}, ${y + height / 2}).closest('button')`)).toBeNull();
  const clicked = verify.click();
  await (await held).continue();
  await clicked;
  await page.getByRole('button', { name: 'Unverify +14155550197' }).waitFor();
});

browserTest('a request is found in the journal as it comes', async ({ sandbox }) => {
  const { page } = await look(sandbox, '/?view=journal');
  await page.locator(liveLink).waitFor();
  await sandbox.ask('POST', '/v1/convai/agents', { name: 'Seen in the journal' });
  await page.getByRole('link', { name: 'POST /v1/convai/agents' }).click();
  await page.locator('dl', { hasText: 'create_agent' }).waitFor();
});

browserTest('what is open, typed and focused stays so while the page follows', async ({ sandbox }) => {
  await sandbox.ask('POST', '/_sandbox/faults', { id: 'own', operation: 3, effect: { type: 'error', status: 503 } });
  const { page } = await look(sandbox, '/?view=faults');
  await page.locator(liveLink).waitFor();
  await page.locator('tr details summary').click();
  await page.locator('#rule').fill('not finished');
  await page.locator('#rule').focus();
  await sandbox.ask('GET', '/v1/convai/agents/agent_survey');
  await page.locator('tr[id="rule-own"] td[data-label="Hits"]', { hasText: '1' }).waitFor();
  expect(await page.locator('tr details').getAttribute('open')).toBe('');
  expect(await page.locator('#rule').inputValue()).toBe('not finished');
  expect(await page.evaluate('document.activeElement.id')).toBe('rule');
  await page.locator('tr details summary').focus();
  await sandbox.ask('GET', '/v1/convai/agents/agent_survey');
  await page.locator('tr[id="rule-own"] td[data-label="Hits"]', { hasText: '2' }).waitFor();
  expect(await page.locator('#rule').inputValue()).toBe('not finished');
  expect(await page.evaluate('document.activeElement.nodeName')).toBe('SUMMARY');
});

browserTest('what callers send is shown as text and never run', async () => {
  const hostile = '<img src="/nowhere" onerror="window.ran = true"><script>window.ran = true</script>';
  const sandbox = await startPageSandbox({ dialect: 'extended' });
  const { body } = await sandbox.ask('POST', '/v1/convai/agents', {
    name: hostile,
    tags: [hostile],
    conversation_config: { agent: { first_message: hostile, prompt: { prompt: hostile } } },
  });
  await sandbox.ask('POST', '/v1/convai/phone-numbers', { ...imported, label: hostile });
  await sandbox.ask('POST', '/v1/convai/phone-numbers/batch-calls', {
    agent_id: body.agent_id,
    from_phone_number_id: 'pn_main',
    calls: [{ to_phone_number: '+12125550100' }],
  });
  await sandbox.ask('POST', '/_sandbox/faults', { id: hostile, title: hostile, operation: 2, effect: { type: 'missing_field' } });
  await sandbox.ask('GET', `/v1/convai/nothing?${encodeURIComponent(hostile)}=<b>`);
  await sandbox.advance(3600);
  const { page } = await look(sandbox);
  const views: [path: string, place: string][] = [
    ['/', 'tr[id^="call-"] a'],
    [`/?view=call&id=${sandbox.calls()[0]?.callId}`, '.transcript .said'],
    ['/?view=agents', 'tbody th'],
    [`/?view=agent&id=${body.agent_id}`, 'h1'],
    ['/?view=numbers', 'tbody td'],
    ['/?view=batches', 'tbody td'],
    ['/?view=faults', 'tbody th'],
  ];
  for (const [path, place] of views) {
    await page.goto(sandbox.url + path);
    await page.locator(liveLink).waitFor();
    const texts = await page.locator(place).allTextContents();
    expect([path, texts.some((text) => text.includes(hostile))]).toEqual([path, true]);
    expect(await page.locator('main img, main script').count()).toBe(0);
  }
  for (const { sequence } of sandbox.journal())
    expect(await (await fetch(`${sandbox.url}/?view=request&id=${sequence}`)).text()).not.toMatch(/<img|<script>/);
  expect(await page.evaluate('window.ran')).toBeUndefined();
});

browserTest('a control token is asked for, kept in the tab and forgotten again, and what arrives after that is not shown', async () => {
  const sandbox = await startPageSandbox({ controlToken });
  const { page, complaints } = await look(sandbox, '/?view=control');
  await page.getByLabel('Control token').fill('not-the-token-of-this-one');
  await page.keyboard.press('Enter');
  await page.getByText('This is not the control token').waitFor();
  expect(await page.locator('#app').textContent()).toBe('');
  await page.getByLabel('Control token').fill(controlToken);
  await page.keyboard.press('Enter');
  await page.locator(liveLink).waitFor();
  await page.locator('#clock-steps').getByRole('button', { name: '+1 h' }).click();
  await page.locator('#clock-now', { hasText: '14:00:00' }).waitFor();
  await page.goto(`${sandbox.url}/?view=agents`);
  await page.getByText('Appointment reminders').waitFor();
  expect(await page.content()).not.toContain(controlToken);
  await page.goto(`${sandbox.url}/?view=control`);
  await page.locator(liveLink).waitFor();
  const held: Route[] = [];
  await page.route('**/_sandbox/page*', (route) => void held.push(route));
  await sandbox.ask('POST', '/_sandbox/clock/advance', { seconds: 60 });
  await vi.waitFor(() => expect(held).not.toEqual([]), slow);
  await page.getByRole('button', { name: 'Forget the control token' }).click();
  await page.getByLabel('Control token').waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  const [answer] = await Promise.all([page.waitForResponse('**/_sandbox/page*'), held[0]?.continue()]);
  await answer.finished();
  // What it would show comes before that.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
  expect(await page.locator('#app').textContent()).toBe('');
  expect(await page.getByLabel('Control token').isVisible()).toBe(true);
  // The browser itself tells of the answer 401 to the wrong token.
  expect(complaints.splice(0).every((text) => text.includes('401'))).toBe(true);
});

browserTest('a page whose sandbox is gone says so', async ({ sandbox }) => {
  const { page, complaints } = await look(sandbox);
  await page.locator(liveLink).waitFor();
  await sandbox.close();
  await page.locator('#link', { hasText: 'Not live' }).waitFor();
  await page.close();
  complaints.length = 0;
});
