/** Writes the pictures of docs/sandbox/page.md anew: npx tsx test/sandbox/take-screenshots.ts [folder] */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createScaledClock } from '../../src/sandbox/clock.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { openWindow } from '../support/browser.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '../../docs/images');
const widths = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } };
const clock = createScaledClock({ speed: 0, epochMs: Date.UTC(2030, 0, 15, 12) });
const sandbox = await startSandbox({ seed: 'pictures', clock, concurrency: 8 });

async function ask(method: string, path: string, body?: unknown): Promise<void> {
  const headers = {
    'x-api-key': 'sk_sandbox_ok',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const response = await fetch(sandbox.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
}

async function batch(agentId: string, from: string, numbers: string[]): Promise<void> {
  const calls = numbers.map((number) => ({ to_phone_number: number }));
  await ask('POST', '/v1/convai/phone-numbers/batch-calls', { agent_id: agentId, from_phone_number_id: from, calls });
}

const advance = (seconds: number): Promise<void> => ask('POST', '/_sandbox/clock/advance', { seconds });
const numbersFrom = (area: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `+1${area}55501${50 + index}`);

await batch('agent_reminders', 'pn_main', ['+12125550100', '+12125550101', '+12125550103', ...numbersFrom(312, 9)]);
await advance(900);
await ask('POST', '/v1/convai/phone-number/batch-calls', {});
await ask('GET', '/v1/convai/conversations?agent_id=agent_reminders');
await ask('POST', '/_sandbox/faults', {
  id: 'survey-slow',
  title: 'Agents are slow to load',
  operation: 'get_agent',
  every: 2,
  effect: { type: 'delay', ms: { distribution: 'uniform', from: 20, to: 60 } },
});
await ask('POST', '/_sandbox/faults', {
  id: 'preset-500-after-batch',
  operation: 14,
  nth: 1,
  effect: { type: 'error', status: 500, when: 'after' },
});
await ask('GET', '/v1/convai/agents/agent_survey');
await ask('GET', '/v1/convai/agents/agent_survey');
await batch('agent_survey', 'pn_second', numbersFrom(617, 24));
await advance(55);
await ask('GET', '/v1/convai/phone-numbers');

const answered = sandbox.calls().find(({ to }) => to === '+12125550100');
const asked = sandbox.journal().find(({ operation }) => operation === 'batch_calls');
const views: Record<string, string> = {
  calls: '/',
  conversation: `/?view=call&id=${answered?.callId}`,
  batches: '/?view=batches',
  agents: '/?view=agents',
  agent: '/?view=agent&id=agent_reminders',
  numbers: '/?view=numbers',
  journal: '/?view=journal',
  request: `/?view=request&id=${asked?.sequence}`,
  faults: '/?view=faults',
  conduct: '/?view=conduct',
  control: '/?view=control',
};
/** In the docs there is no room for all of them. */
const pictured = ['calls wide light', 'conversation wide dark', 'faults wide light', 'calls narrow dark'];

await mkdir(folder, { recursive: true });
for (const [size, viewport] of Object.entries(widths)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const window = await openWindow({ origin: sandbox.url, ...viewport, colorScheme, timezoneId: 'UTC' });
    for (const [name, path] of Object.entries(views)) {
      if (process.argv[2] === undefined && !pictured.includes(`${name} ${size} ${colorScheme}`)) continue;
      await window.page.goto(sandbox.url + path);
      await window.page.locator('#link[data-link="on"]').waitFor();
      await window.page.screenshot({
        path: join(folder, `page-${name}-${size}-${colorScheme}.png`),
        fullPage: process.argv[3] === 'full',
      });
    }
    for (const complaint of window.complaints) console.error(complaint);
    await window.close();
  }
}
await sandbox.close();
