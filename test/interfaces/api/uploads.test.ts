import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startApi } from '../../../src/interfaces/api/server.ts';
import { ApiWorld } from './api-world.ts';

const path = '/api/v1/suppressions/import';
const file = 'Content-Disposition: form-data; name="numbers"; filename="n.csv"';

async function listen(world: ApiWorld) {
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((world.app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.setEncoding('utf8').on('error', () => {});
  return {
    socket,
    ask: async (text: string): Promise<string> => {
      socket.write(text);
      const [answer] = (await once(socket, 'data')) as [string];
      return answer;
    },
  };
}

function head(world: ApiWorld, more: string): string {
  const token = `Authorization: Bearer ${world.tokenText('operate')}`;
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${token}\r\nIdempotency-Key: k1\r\n${more}\r\n\r\n`;
}

async function openWorld() {
  const world = await ApiWorld.empty();
  return { app: world.app, headers: { authorization: `Bearer ${world.tokenText('operate')}` } };
}

test('a request that says itself that its file is too large is refused before any of it is sent', async () => {
  const world = await ApiWorld.empty();
  const { ask, socket } = await listen(world);
  const answer = await ask(head(world, 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 2000000000'));
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('A file may have at most 1000 MB.');
  socket.destroy();
});

test('a client that was refused before its body came may ask again on its connection', async () => {
  const world = await ApiWorld.empty({ limits: { lingerMs: 20 } });
  const { ask, socket } = await listen(world);
  const refused = await ask(head(world, 'Content-Type: text/csv\r\nContent-Length: 4').replace('Bearer', 'Nobody'));
  expect(refused).toMatch(/^HTTP\/1\.1 401 /);
  socket.write('late');
  const begun = performance.now();
  // Longer than a sending client may stay connected.
  while (performance.now() - begun < 100) expect(await ask('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

test('a form that breaks off, or is another one than the API takes, is a fault of its sender', async () => {
  const { app, ...world } = await openWorld();
  const whole = `--b\r\n${file}\r\n\r\n+12125550100\n`;
  for (const [payload, boundary = '; boundary=b'] of [
    [whole],
    [`${whole}\r\n--b--\r\n`, ''],
    ['--b\r\nContent-Disposition: form-data; name="numbers"\r\n\r\n1\r\n--b--'],
    [`--b\r\n${file.replace('numbers', 'n')}\r\n\r\n1\r\n--b--\r\n`],
    [''],
  ]) {
    const headers = { ...world.headers, 'idempotency-key': 'k1', 'content-type': `multipart/form-data${boundary}` };
    const answer = await app.inject({ method: 'POST', url: path, headers, payload: payload ?? '' });
    expect([payload, answer.json()]).toMatchObject([payload, { status: 400, code: 'upload' }]);
  }
});

test('a campaign that is sent names no file of the server, nor does what is wrong with it', async () => {
  const world = await ApiWorld.empty();
  const speaker = ['agent_id: a', 'from_phone_number_id: p'];
  const campaign = ['id: autumn', ...speaker, 'list: { file: list.csv, phone: phone }', 'hours: any', 'law: off'].join('\n');
  const list = 'phone,name\n+12125550131,Ana\n';
  const pathless = expect.not.stringContaining('carillon-upload') as string;
  const wrongFile = { status: 422, code: 'campaign_file', detail: pathless };
  const alone = { ...wrongFile, detail: expect.stringMatching(/name of the list alone/) as string };
  const cases: [files: Record<string, string>, problem: object][] = [
    ...['/etc/passwd', '../list.csv', 'folder/list.csv', 'campaign.yaml'].map(
      (name) => [{ campaign: campaign.replace('list.csv', name), list }, alone] as [Record<string, string>, object],
    ),
    [{ campaign: campaign.replace('law: off', 'law: { rules: /etc/passwd }'), list }, wrongFile],
    [
      { campaign: campaign.replace('hours: any', 'hours: never'), list },
      { ...wrongFile, detail: expect.stringMatching(/^campaign\.yaml:\d+: hours/) as string },
    ],
    [
      { campaign, list: 'number,name\n1,2\n' },
      { status: 422, detail: pathless },
    ],
    [{ campaign }, { status: 400, code: 'upload', detail: 'The file list is missing.' }],
    [{ campaign, list, more: 'x' }, { status: 400 }],
  ];
  for (const [files, problem] of cases) {
    const form = new FormData();
    for (const [name, text] of Object.entries(files)) form.append(name, new Blob([text]), `${name}.txt`);
    expect([files, (await world.ask('POST /api/v1/campaigns', { body: form })).body]).toMatchObject([files, problem]);
  }
  expect((await world.ask('POST /api/v1/campaigns', { body: { campaign } })).status).toBe(415);
  expect((await world.ask('GET /api/v1/campaigns')).body).toEqual({ campaigns: [] });
});

test('an address that cannot be read is refused with a problem', async () => {
  const { app, headers } = await openWorld();
  for (const [url, status, code] of [
    [`/api/v1/campaigns/${'x'.repeat(201)}`, 400, 'invalid'],
    ['/api/v1/campaigns/%E0%A4%A', 400, 'fst_err_bad_url'],
    ['/api/v1/%00', 404, 'not_found'],
  ] as const) {
    const answer = await app.inject({ url, headers });
    expect([url, answer.statusCode, answer.json()]).toMatchObject([url, status, { status, code }]);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  }
});

test.each([
  ['to this machine alone', false],
  ['behind a proxy that speaks TLS', true],
])('the cookie of a server %s is for TLS alone: %s', async (_, behindProxy) => {
  const world = await ApiWorld.empty();
  const api = await startApi(world.context, { host: '127.0.0.1', port: 0, tls: null, behindProxy });
  const body = new URLSearchParams({ token: world.tokenText('read'), to: '/' });
  const headers = { 'sec-fetch-site': 'same-origin' };
  const answer = await fetch(`${api.url}/sign-in`, { method: 'POST', headers, body, redirect: 'manual' });
  expect(answer.status).toBe(303);
  const [cookie = ''] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/^carillon_session=.*; HttpOnly.*; SameSite=Strict/);
  expect(cookie.includes('; Secure')).toBe(behindProxy);
  await api.close();
});
