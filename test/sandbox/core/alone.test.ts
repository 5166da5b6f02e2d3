import { expect, onTestFinished, test } from 'vitest';
import { Service } from '../../../src/sandbox/core/service/service.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';
import { createCoreServer } from '../../../src/sandbox/server.ts';
import { createManualClock, type Json } from '../harness.ts';

test('the core starts, calls, shows it, is reset and stops without any feature', async () => {
  const clock = createManualClock();
  const service = new Service(resolveSettings({ seed: 'test' }), clock);
  const app = createCoreServer(service);
  onTestFinished(() => {
    service.close();
    return app.close();
  });
  const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object): Promise<Json> => {
    const headers = { 'x-api-key': 'sk_sandbox_ok' };
    return (await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })).json();
  };
  await ask('POST', '/v1/convai/phone-numbers/batch-calls', {
    agent_id: 'agent_reminders',
    from_phone_number_id: 'pn_main',
    calls: [{ to_phone_number: '+12125550100' }],
  });
  expect(await ask('GET', '/_sandbox/idle')).toMatchObject({ idle: false });
  clock.advance(3_600_000);
  expect(await ask('GET', '/_sandbox/idle')).toMatchObject({ idle: true, under_way: { sockets: 0 } });
  const [{ conversation_id: id }] = (await ask('GET', '/v1/convai/conversations')).conversations;
  expect(await ask('GET', `/v1/convai/conversations/${id}`)).toMatchObject({ status: 'done', audio: null });
  expect(await ask('DELETE', `/v1/convai/conversations/${id}`)).toEqual({});
  service.reset();
  expect((await ask('GET', '/v1/convai/conversations')).conversations).toEqual([]);
  expect((await app.inject('/_sandbox/webhooks')).statusCode).toBe(404);
});
