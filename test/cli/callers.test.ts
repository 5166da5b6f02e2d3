import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { startDevServer, type DevServer } from '../../src/temporal/dev-server.ts';
import { createWorld } from './campaign-world.ts';

let server: DevServer;

beforeAll(async () => {
  server = await startDevServer({ config: readConfig(), ui: false });
});
afterAll(async () => {
  await server.stop();
});

const quickly = ['retry: { max_attempts: 2, no_answer: 5m, busy: 5m, voicemail: never, unreached: 5m, failed: 5m }'];

test(
  'of three numbers the two that may call share the list, and status tells what became of each',
  { timeout: 120_000 },
  async () => {
    const world = await createWorld(server.address);
    const path = world.writeCampaign({
      rows: 12,
      yaml: ['from_phone_number_id: [pn_main, pn_second, pn_unverified]', 'caller_choice: rotation', ...quickly],
    });
    await world.work();
    const run = await world.run('run', path);
    expect(run).toMatchObject({ code: 0 });
    expect(run.stderr).toContain('Caller number pn_unverified is not verified, so the others call without it.');

    const status = JSON.parse((await world.run('status', world.id, '--json')).stdout) as {
      callers: { phoneNumberId: string; state: string; reason: string | null; calls: number }[];
    };
    expect(status.callers.map(({ phoneNumberId, state, reason }) => [phoneNumberId, state, reason])).toEqual([
      ['pn_main', 'in', null],
      ['pn_second', 'in', null],
      ['pn_unverified', 'out', 'not_verified'],
    ]);
    const calls = status.callers.map((caller) => caller.calls);
    expect(calls[0] ?? 0).toBeGreaterThanOrEqual(6);
    expect(calls[1] ?? 0).toBeGreaterThanOrEqual(6);
    expect((calls[0] ?? 0) + (calls[1] ?? 0)).toBe(world.sandbox.calls().length);
    expect(calls[2]).toBe(0);
    expect((await world.run('status', world.id)).stdout).toMatch(
      /Numbers +pn_main +\d+ calls\n +pn_second +\d+ calls\n +pn_unverified +0 calls, OUT: is not verified\n/,
    );
    expect(await world.run('verify', world.id)).toMatchObject({ code: 0 });
  },
);

test('a campaign of which no number may call is refused with the reason of each, and nothing is imported', async () => {
  const world = await createWorld(server.address);
  const path = world.writeCampaign({ yaml: ['from_phone_number_id: [pn_unverified, pn_nowhere]'] });
  expect(await world.run('start', path)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /None of the 2 caller numbers may call \(pn_unverified is not verified, pn_nowhere is not known to the service\): mend one of them with the service\. Nothing was imported/,
    ),
  });
});
