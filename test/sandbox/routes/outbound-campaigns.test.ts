import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { noon, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const campaigns = '/v1/convai/outbound-campaigns/campaigns';
const inThirtyDays = noon / 1000 + 30 * 86_400;
const [answers, isBusy, isAbsent, other] = ['+12125550100', '+12125550101', '+12125550102', '+12125550115'] as const;

function submission(numbers: readonly string[], more: Json = {}): Json {
  return {
    call_name: 'Reminders',
    agent_id: 'agent_reminders',
    channel_config: { channel: 'phone', agent_phone_number_id: 'pn_main' },
    variant: 'simple',
    recipients: numbers.map((phone_number, index) => ({ id: `row_${index}`, phone_number })),
    ...more,
  };
}

async function submit(sandbox: TestSandbox, numbers: readonly string[], more: Json = {}): Promise<Json> {
  const { status, body } = await sandbox.request('POST', `${campaigns}/submit`, submission(numbers, more));
  expect(status, JSON.stringify(body)).toBe(body.created ? 201 : 200);
  return body;
}

async function read(sandbox: TestSandbox, path: string): Promise<Json> {
  const { status, body } = await sandbox.get(`${campaigns}/${path}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const start = async (settings: SandboxOptions['campaigns'] = {}, more: SandboxOptions = {}): Promise<TestSandbox> =>
  startTestSandbox({ campaigns: settings, ...more });

test('each recipient is called once, and calls, leads and progress say how it went', async () => {
  const sandbox = await start();
  const { campaign, created, within_calling_window: within } = await submit(sandbox, [answers, isBusy, isAbsent]);
  expect({ created, within, status: campaign.status }).toEqual({ created: true, within: true, status: 'active' });
  const id = campaign.campaign_id;
  expect((await read(sandbox, `${id}/progress`)).leads).toMatchObject({ total: 3, uncalled: 0, active: 3, finished: 0 });
  sandbox.clock.advance(3_600_000);

  const { leads } = await read(sandbox, `${id}/leads`);
  expect(leads.map((lead: Json) => [lead.recipient_id, lead.phone_number, lead.attempt_count, lead.terminal_disposition])).toEqual([
    ['row_2', isAbsent, 1, 'attempt_ceiling_reached'],
    ['row_1', isBusy, 1, 'attempt_ceiling_reached'],
    ['row_0', answers, 1, 'completed'],
  ]);
  const { calls } = await read(sandbox, `${id}/calls`);
  expect(calls.map((call: Json) => [call.lead_id, call.status, call.outcome, call.call_result])).toEqual([
    [leads[0].lead_id, 'completed', 'failed', 'no_answer'],
    [leads[1].lead_id, 'completed', 'failed', 'busy'],
    [leads[2].lead_id, 'completed', 'completed', 'answered'],
  ]);
  const record = (await sandbox.get(`/v1/convai/conversations/${calls[2].conversation_id}`)).body;
  expect(record.metadata.batch_call).toEqual({
    batch_call_id: sandbox.calls()[0]?.batchId,
    batch_call_recipient_id: calls[2].intent_id,
    campaign: { campaign_id: id, campaign_lead_id: leads[2].lead_id, cold_attempt: 1, conversation_type: 'initial' },
  });
  expect(await read(sandbox, `${id}/progress`)).toEqual({
    leads: {
      total: 3,
      uncalled: 0,
      leads_needing_attention: 0,
      active: 0,
      finished: 3,
      finished_by_disposition: { attempt_ceiling_reached: 2, completed: 1 },
    },
    conversations: { scheduled: 0, scheduled_by_type: {}, awaiting_permission: 0, in_progress: 0, awaiting_analysis: 0 },
    next_call_time_unix: null,
  });
  expect(await read(sandbox, id)).toMatchObject({ status: 'completed', counts: { leads: 3, terminal_leads: 3 } });
  expect(sandbox.calls()).toHaveLength(3);
});

test('lists are read by pages and filters, newest first', async () => {
  const sandbox = await start();
  const first = (await submit(sandbox, [answers, isBusy, isAbsent], { call_name: 'First round' })).campaign.campaign_id;
  const second = (await submit(sandbox, [other], { call_name: 'Second round', agent_id: 'agent_survey' })).campaign.campaign_id;
  const listed = async (query: string): Promise<Json> => (await sandbox.get(`${campaigns}?${query}`)).body;
  const named = async (query: string): Promise<string[]> => (await listed(query)).campaigns.map((each: Json) => each.campaign_id);
  expect(await named('')).toEqual([second, first]);
  expect(await named('search=FIRST')).toEqual([first]);
  expect(await named('agent_id=agent_survey')).toEqual([second]);
  expect(await named('status=paused')).toEqual([]);
  expect(await named('status=paused&status=active')).toEqual([second, first]);
  expect(await named('channel=whatsapp')).toEqual([]);
  const { campaigns: one, next_cursor: next, has_more: more } = await listed('page_size=1');
  expect([one[0].campaign_id, more]).toEqual([second, true]);
  expect(await named(`page_size=1&cursor=${next}`)).toEqual([first]);
  expect((await sandbox.get(`${campaigns}?page_size=1&search=round&cursor=${next}`)).status).toBe(422);
});

test('calls and leads are read by pages and filters too', async () => {
  const sandbox = await start();
  const id = (await submit(sandbox, [answers, isBusy, isAbsent, other])).campaign.campaign_id;
  sandbox.clock.advance(3_600_000);
  const numbersIn = async (of: string, query: string): Promise<string[]> =>
    (await read(sandbox, `${id}/${of}?${query}`))[of].map((each: Json) => each.phone_number);
  expect(await numbersIn('calls', 'call_result=busy&call_result=no_answer')).toEqual([isAbsent, isBusy]);
  expect(await numbersIn('calls', 'status=queued')).toEqual([]);
  expect(await numbersIn('leads', 'disposition=completed')).toEqual([other, answers]);
  expect(await numbersIn('leads', 'search=0101')).toEqual([isBusy]);
  expect(await numbersIn('leads', 'status=in_progress')).toEqual([]);
  const page = await read(sandbox, `${id}/leads?page_size=3`);
  expect(page.leads.map((lead: Json) => lead.phone_number)).toEqual([other, isAbsent, isBusy]);
  expect(await numbersIn('leads', `page_size=3&cursor=${page.next_cursor}`)).toEqual([answers]);
  const lead = page.leads[2];
  expect(await read(sandbox, `${id}/leads/${lead.lead_id}`)).toEqual(lead);
  expect(await numbersIn('calls', `lead_id=${lead.lead_id}`)).toEqual([isBusy]);
  expect((await sandbox.get(`${campaigns}/camp_none/leads`)).body.detail.code).toBe('campaign_not_found');
  expect((await sandbox.get(`${campaigns}/${id}/leads/lead_none`)).body.detail.code).toBe('lead_not_found');
});

test('a repeat with the same key returns the campaign that it made, and dials nobody', async () => {
  const sandbox = await start();
  const first = await submit(sandbox, [answers], { idempotency_key: 'one' });
  const again = await submit(sandbox, [answers], { idempotency_key: 'one' });
  expect([again.created, again.campaign.campaign_id]).toEqual([false, first.campaign.campaign_id]);
  expect((await submit(sandbox, [answers], { idempotency_key: 'two' })).created).toBe(true);
  expect(sandbox.calls()).toHaveLength(2);
});

test.each(['existing', 'conflict'] as const)('a key that comes with another body is answered as is set: %s', async (otherBody) => {
  const sandbox = await start({ otherBody });
  const { campaign } = await submit(sandbox, [answers], { idempotency_key: 'one' });
  const more = { idempotency_key: 'one', scheduled_time_unix: inThirtyDays };
  const { status, body } = await sandbox.request('POST', `${campaigns}/submit`, submission([answers], more));
  if (otherBody === 'conflict') {
    expect([status, body.detail.code]).toEqual([409, 'idempotency_key_reused']);
    expect(body.detail.message).toContain(campaign.campaign_id);
  } else expect([status, body.created, body.campaign.scheduled_time_unix]).toEqual([200, false, null]);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(false);
  expect(sandbox.calls()).toHaveLength(1);
});

test('without a key a repeat is known by its body', async () => {
  const sandbox = await start();
  const { campaign } = await submit(sandbox, [answers]);
  expect(await submit(sandbox, [answers])).toMatchObject({ created: false, campaign: { campaign_id: campaign.campaign_id } });
  expect((await submit(sandbox, [answers], { call_name: 'Others' })).created).toBe(true);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(true);
});

test.each([
  [null, false],
  [86_400_000, true],
])('keys are kept for %s ms', async (keyKeptMs, created) => {
  const sandbox = await start({ keyKeptMs });
  await submit(sandbox, [answers], { idempotency_key: 'one' });
  sandbox.clock.advance(86_400_000);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(false);
  sandbox.clock.advance(1);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(created);
});

const lost = { operation: 'batch_calls', times: 1 } as const;

test.each([
  ['lost before', { ...lost, effect: { type: 'reset' } }, true],
  ['lost after', { ...lost, effect: { type: 'reset', when: 'after' } }, false],
  ['refused before', { ...lost, effect: { type: 'rate_limited' } }, true],
  ['refused after', { ...lost, effect: { type: 'rate_limited', when: 'after' } }, false],
  ['failed after', { ...lost, effect: { type: 'error', status: 503, when: 'after' } }, false],
] as const)('what a request that was %s made is told by a repeat with its key', async (_what, fault, created) => {
  const sandbox = await start({}, { faults: [fault] });
  const once = submission([answers], { idempotency_key: 'one' });
  const first = await sandbox.request('POST', `${campaigns}/submit`, once).catch(() => null);
  expect([null, 429, 503]).toContain(first?.status ?? null);
  const fence = await submit(sandbox, [answers], { idempotency_key: 'one', scheduled_time_unix: inThirtyDays });
  expect([fence.created, fence.campaign.scheduled_time_unix]).toEqual([created, created ? inThirtyDays : null]);
});

test('a request that hangs and is carried out when its key is taken creates nothing', async () => {
  const sandbox = await start();
  await sandbox.request('POST', '/_sandbox/gates', { point: 'batch_received' });
  const hanging = sandbox.request('POST', `${campaigns}/submit`, submission([answers], { idempotency_key: 'one' }));
  await sandbox.get('/_sandbox/gates/wait?point=batch_received');
  const fence = await submit(sandbox, [answers], { idempotency_key: 'one', scheduled_time_unix: inThirtyDays });
  const id = fence.campaign.campaign_id;
  expect((await sandbox.request('POST', `${campaigns}/${id}/stop`)).body.status).toBe('stopped');
  sandbox.gates.release();
  expect((await hanging).body).toMatchObject({ created: false, campaign: { campaign_id: id, status: 'stopped' } });
  sandbox.clock.advance(40 * 86_400_000);
  expect((await read(sandbox, `${id}/calls`)).calls).toMatchObject([{ status: 'cancelled', outcome: 'cancelled', conversation_id: null }]);
  expect(sandbox.calls().filter(({ dialedAt }) => dialedAt !== null)).toEqual([]);
});

test.each([
  ['dials_nobody', 'stopped', 0],
  ['too_late', 'stopping', 1],
] as const)('the stop of a scheduled campaign, set to %s', async (stopOfScheduled, status, dialled) => {
  const sandbox = await start({ stopOfScheduled });
  const { campaign, within_calling_window: within } = await submit(sandbox, [answers], { scheduled_time_unix: inThirtyDays });
  expect(within).toBe(false);
  const stopped = await sandbox.request('POST', `${campaigns}/${campaign.campaign_id}/stop`);
  expect([stopped.status, stopped.body.status]).toEqual([status === 'stopped' ? 200 : 202, status]);
  sandbox.clock.advance(31 * 86_400_000);
  await sandbox.get(campaigns);
  expect(sandbox.calls().filter(({ dialedAt }) => dialedAt !== null)).toHaveLength(dialled);
});

test.each([
  ['kept', null],
  ['ignored', noon],
] as const)('a schedule that is %s', async (schedule, dialedAt) => {
  const sandbox = await start({ schedule });
  const { campaign } = await submit(sandbox, [answers], { scheduled_time_unix: inThirtyDays });
  expect(sandbox.calls()[0]?.dialedAt).toBe(dialedAt);
  expect(campaign.scheduled_time_unix).toBe(inThirtyDays);
});

test('a campaign that is paused dials nobody until it is resumed, and a stopped one nobody any more', async () => {
  const sandbox = await start();
  const { campaign } = await submit(sandbox, [answers, other, isBusy, isAbsent], { target_concurrency_limit: 1 });
  const [id, dialled] = [campaign.campaign_id, () => sandbox.calls().filter(({ dialedAt }) => dialedAt !== null).length];
  const order = async (what: string): Promise<[number, string]> => {
    const { status, body } = await sandbox.request('POST', `${campaigns}/${id}/${what}`);
    return [status, body.status ?? body.detail.code];
  };
  expect(await order('pause')).toEqual([200, 'paused']);
  sandbox.clock.advance(3_600_000);
  expect((await read(sandbox, `${id}/progress`)).conversations).toMatchObject({ scheduled: 3, in_progress: 0 });
  expect(dialled()).toBe(1);
  expect(await order('resume')).toEqual([200, 'active']);
  expect(dialled()).toBe(2);
  expect(await order('stop')).toEqual([202, 'stopping']);
  sandbox.clock.advance(3_600_000);
  expect(await order('stop')).toEqual([200, 'stopped']);
  expect(await order('pause')).toEqual([409, 'campaign_not_running']);
  expect(await order('resume')).toEqual([409, 'campaign_not_running']);
  const { leads } = await read(sandbox, `${id}/leads`);
  expect(leads.map((lead: Json) => [lead.terminal_disposition, lead.do_not_call])).toEqual([
    ['campaign_ended', true],
    ['campaign_ended', true],
    ['completed', false],
    ['completed', false],
  ]);
  expect(dialled()).toBe(2);
});

test('all campaigns are paused, and stopped, by one request', async () => {
  const sandbox = await start();
  const first = (await submit(sandbox, [answers])).campaign.campaign_id;
  sandbox.clock.advance(3_600_000);
  const [now, later] = [
    (await submit(sandbox, [other], { call_name: 'Now' })).campaign.campaign_id,
    (await submit(sandbox, [other], { scheduled_time_unix: inThirtyDays })).campaign.campaign_id,
  ];
  expect((await sandbox.request('POST', `${campaigns}/pause-all`)).body).toEqual({ paused_campaign_ids: [now, later] });
  const stopped = await sandbox.request('POST', `${campaigns}/stop-all`);
  expect([stopped.status, stopped.body]).toEqual([202, { stopped_campaign_ids: [later], stopping_campaign_ids: [now] }]);
  expect((await read(sandbox, first)).status).toBe('completed');
});

test('a removed lead is not called, unless its call is under way', async () => {
  const sandbox = await start();
  const { campaign } = await submit(sandbox, [answers, other], { target_concurrency_limit: 1 });
  const id = campaign.campaign_id;
  const { leads } = await read(sandbox, `${id}/leads`);
  const remove = async (lead: Json): Promise<[number, Json]> => {
    const { status, body } = await sandbox.request('DELETE', `${campaigns}/${id}/leads/${lead.lead_id}`);
    expect(body).toMatchObject({ campaign_id: id, lead_id: lead.lead_id });
    return [status, body.has_calls_in_flight];
  };
  expect(await remove(leads[0])).toEqual([200, false]);
  expect(await remove(leads[1])).toEqual([202, true]);
  sandbox.clock.advance(3_600_000);
  expect(await remove(leads[1])).toEqual([200, false]);
  expect((await read(sandbox, `${id}/leads`)).leads).toMatchObject([
    { terminal_disposition: 'removed', do_not_call: true, attempt_count: 0 },
    { terminal_disposition: 'completed', do_not_call: true, attempt_count: 1 },
  ]);
  expect(sandbox.calls().filter(({ dialedAt }) => dialedAt !== null)).toHaveLength(1);
});

test('the list and the reports lag as is set', async () => {
  const sandbox = await start({ listLagMs: 60_000, reportLagMs: 30_000 });
  const { campaign } = await submit(sandbox, [isBusy, other], { target_concurrency_limit: 1 });
  const id = campaign.campaign_id;
  const listed = async (): Promise<number> => (await sandbox.get(campaigns)).body.campaigns.length;
  const statuses = async (): Promise<string[]> => (await read(sandbox, `${id}/calls`)).calls.map((call: Json) => call.status);
  const total = async (): Promise<number> => (await read(sandbox, `${id}/progress`)).leads.total;
  expect([await listed(), await statuses(), await total()]).toEqual([0, [], 0]);
  expect((await read(sandbox, id)).campaign_id).toBe(id);
  sandbox.clock.advance(30_000);
  expect([await listed(), await statuses(), await total()]).toEqual([0, ['queued', 'submitted'], 2]);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt !== null)).toEqual([true, true]);
  sandbox.clock.advance(30_000);
  expect([await listed(), await statuses(), await total()]).toEqual([1, ['submitted', 'completed'], 2]);
});

test.each([
  ['leads', 'row_0', /^intent_/],
  ['everywhere', 'row_0', /^row_0$/],
  ['nowhere', null, /^intent_/],
] as const)("a recipient's own id comes back in %s", async (recipientIds, ofLead, inRecord) => {
  const sandbox = await start({ recipientIds });
  const { campaign } = await submit(sandbox, [answers]);
  expect((await read(sandbox, `${campaign.campaign_id}/leads`)).leads[0].recipient_id).toBe(ofLead);
  const record = (await sandbox.get(`/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`)).body;
  expect(record.metadata.batch_call.batch_call_recipient_id).toMatch(inRecord);
});

test('what was sent along for a recipient is heard, and told with its secrets redacted', async () => {
  const sandbox = await start();
  const data = {
    user_id: 'person 7',
    dynamic_variables: { name: 'Robin', secret__code: 'open sesame' },
    conversation_config_override: { agent: { first_message: 'Hello {{name}}.', language: 'en' } },
  };
  const recipients = [{ phone_numbers: [answers, other], conversation_initiation_client_data: data }];
  const { campaign } = await submit(sandbox, [], { recipients });
  expect((await read(sandbox, `${campaign.campaign_id}/leads`)).leads).toMatchObject([
    {
      recipient_id: null,
      phone_number: answers,
      phone_numbers: [answers, other],
      user_id: 'person 7',
      dynamic_variables: { name: 'Robin', secret__code: '[redacted]' },
      overrides: { language: 'en', first_message: 'Hello {{name}}.', prompt: null, voice_id: null },
    },
  ]);
  sandbox.clock.advance(3_600_000);
  await sandbox.get(campaigns);
  expect(sandbox.calls()).toMatchObject([{ to: answers, openingLine: 'Hello Robin.' }]);
});

test.each<[string, Json, (string | number)[]]>([
  ['the variant that is the default', { variant: undefined }, ['variant']],
  ['the advanced variant', { variant: 'advanced', policy: { timezone: 'UTC' } }, ['variant']],
  ['a simple one with a policy', { policy: { timezone: 'UTC' } }, ['policy']],
  ['another channel', { channel_config: { channel: 'whatsapp', agent_phone_number_id: 'pn_main' } }, ['channel_config', 'channel']],
  ['a recipient without a number', { recipients: [{ id: 'row_0' }] }, ['recipients', 0, 'phone_number']],
  ['a number that cannot be dialled', { recipients: [{ phone_number: '+12125550120' }] }, ['recipients', 0, 'phone_number']],
  ['a field that is not known', { retries: 3 }, ['retries']],
])('%s is refused, and named', async (_what, more, place) => {
  const sandbox = await start();
  const { status, body } = await sandbox.request('POST', `${campaigns}/submit`, submission([answers], more));
  expect([status, body.detail[0]?.loc]).toEqual([422, ['body', ...place]]);
  expect(sandbox.calls()).toEqual([]);
});

test('what is wrong with a campaign is said before the key is looked at', async () => {
  const sandbox = await start();
  const asked = [submission([answers], { retries: 3 }), submission([answers])].map(async (body) => {
    const answer = await sandbox.request('POST', `${campaigns}/submit`, body, { headers: { 'x-api-key': 'sk_of_nobody' } });
    return answer.status;
  });
  expect(await Promise.all(asked)).toEqual([422, 401]);
});

test.each([
  ['GET', '/v1/convai/outbound-campaigns/config'],
  ['GET', '/v1/convai/outbound-campaigns/attention'],
  ['GET', `${campaigns}/camp_1/follow-up-requests`],
  ['GET', `${campaigns}/camp_1/export`],
])('%s %s is not served', async (method, path) => {
  const sandbox = await start();
  expect((await sandbox.request(method, path)).body.detail.code).toBe('route_not_found');
});

test('the contract has no campaigns', async () => {
  const sandbox = await start({}, { dialect: 'spec' });
  expect((await sandbox.get(campaigns)).body.detail.code).toBe('route_not_found');
});

test('campaigns and their keys outlast the process, however sudden its end, and an export has them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-campaigns-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const options = (data: string): SandboxOptions => ({ clock: 'manual', epochMs: noon, data: join(folder, data) });
  const killed = await start({}, options('a'));
  const once = { idempotency_key: 'one', target_concurrency_limit: 1 };
  const id = (await submit(killed, [answers, other, isBusy], once)).campaign.campaign_id;
  await killed.request('POST', `${campaigns}/${id}/pause`);
  const { leads } = await read(killed, `${id}/leads`);
  await killed.request('DELETE', `${campaigns}/${id}/leads/${leads[0].lead_id}`);
  // As the file is the moment after the last answer.
  for (const ending of ['', '.key']) await copyFile(join(folder, `a${ending}`), join(folder, `b${ending}`));
  const [again, imported] = [await start({}, options('b')), await start()];
  const exported = (await killed.get('/_sandbox/export')).body;
  expect((await imported.request('POST', '/_sandbox/import', exported)).status).toBe(200);
  for (const sandbox of [again, imported]) {
    const repeat = await submit(sandbox, [answers, other, isBusy], once);
    expect([repeat.created, repeat.campaign.campaign_id, repeat.campaign.status]).toEqual([false, id, 'paused']);
    expect((await read(sandbox, `${id}/leads`)).leads).toMatchObject([
      { recipient_id: 'row_2', terminal_disposition: 'removed' },
      { recipient_id: 'row_1', terminal_disposition: null },
      { recipient_id: 'row_0', attempt_count: 1 },
    ]);
    await sandbox.request('POST', '/_sandbox/clock/advance', { ms: 3_600_000 });
    expect(sandbox.calls().filter(({ dialedAt }) => dialedAt !== null)).toHaveLength(1);
  }
  const next = await submit(again, [isAbsent]);
  expect(next.campaign.campaign_id).not.toBe(id);
});
