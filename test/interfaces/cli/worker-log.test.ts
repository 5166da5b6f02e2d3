import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createWorld, until } from './campaign-world.ts';

interface Line {
  level: number;
  campaignId?: string;
  msg: string;
}

const warning = 40;

test("the worker's log is JSON from its first line, and tells at info what a campaign does; one that pauses by itself is a warning", async () => {
  const world = await createWorld({}, { CARILLON_LOG_LEVEL: 'info' });
  const worker = await world.work();
  expect(await world.run('start', world.writeCampaign({ rows: 3, yaml: ['retry: { max_attempts: 1 }'] }))).toMatchObject({
    code: 0,
  });
  await until(async () => / completed /.test((await world.run('status')).stdout));
  const paused = `${world.id}-paused`;
  const path = world.writeCampaign({ id: paused, rows: 3, yaml: ['agent_id: agent_nobody'] });
  expect(await world.run('start', '--no-check', path)).toMatchObject({ code: 0 });
  await until(async () => /PAUSED/.test((await world.run('status')).stdout));
  worker.signal('SIGTERM');
  const { code, stderr } = await worker.ended;
  expect(code).toBe(0);
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  expect(lines[0]?.msg).toMatch(/^the worker is ready/);
  const told = lines.filter(({ campaignId }) => campaignId === world.id).map(({ msg }) => msg);
  expect(told).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^agent and caller numbers were looked at: dialling begins$/),
      expect.stringMatching(/^batch 1: \d calls? accepted$/),
      'round 1 has ended',
      'completed',
    ]),
  );
  expect(lines.at(-1)?.msg).toMatch(/^the worker has stopped/);
  expect(lines.filter(({ level }) => level >= warning)).toMatchObject([
    { campaignId: paused, msg: expect.stringMatching(/^paused: .*agent_nobody/) as string },
  ]);
  expect(stderr).not.toMatch(/\+1\d{10}|Row\d/);
});

test('a clock that is an hour off is a warning when the worker starts', async () => {
  let asked = false;
  const service = createServer((request, response) => {
    response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString());
    if (request.url?.startsWith('/v1/convai/conversations') !== true) return response.writeHead(404).end();
    return response.end(JSON.stringify({ conversations: [], has_more: false }), () => (asked = true));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => {
    service.closeAllConnections();
    service.close();
  });
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const world = await createWorld({}, { CARILLON_LOG_LEVEL: 'info', SVC_BASE_URL: url });
  const worker = await world.work();
  await until(async () => asked);
  worker.signal('SIGTERM');
  const { code, stderr } = await worker.ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/this machine's clock is 3(599|60\d)\.\d s from the service's.*Set this machine's clock \(NTP\)/);
});
