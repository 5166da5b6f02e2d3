import { expect } from 'vitest';
import { type Json } from '../harness.ts';
import { answers, campaigns, inThirtyDays, isAbsent, isBusy, other, read, start, submission, submit, test } from './caller.ts';

test('each recipient is called once, and calls, leads and progress say how it went', async ({ sandbox }) => {
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
  const record = await sandbox.read(`/v1/convai/conversations/${calls[2].conversation_id}`);
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

test('lists are read by pages and filters, newest first', async ({ sandbox }) => {
  const first = (await submit(sandbox, [answers, isBusy, isAbsent], { call_name: 'First round' })).campaign.campaign_id;
  const second = (await submit(sandbox, [other], { call_name: 'Second round', agent_id: 'agent_survey' })).campaign.campaign_id;
  const listed = async (query: string): Promise<Json> => await sandbox.read(`${campaigns}?${query}`);
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

test('calls and leads are read by pages and filters too', async ({ sandbox }) => {
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
  expect((await sandbox.read(`${campaigns}/camp_none/leads`)).detail.code).toBe('campaign_not_found');
  expect((await sandbox.read(`${campaigns}/${id}/leads/lead_none`)).detail.code).toBe('lead_not_found');
});

test('a campaign that is paused dials nobody until it is resumed, and a stopped one nobody any more', async ({ sandbox }) => {
  const { campaign } = await submit(sandbox, [answers, other, isBusy, isAbsent], { target_concurrency_limit: 1 });
  const [id, dialled] = [campaign.campaign_id, () => sandbox.calls().filter(({ dialedAt }) => dialedAt !== null).length];
  const order = async (what: string): Promise<[number, string]> => {
    const { status, body } = await sandbox.post(`${campaigns}/${id}/${what}`);
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

test('all campaigns are paused, and stopped, by one request', async ({ sandbox }) => {
  const first = (await submit(sandbox, [answers])).campaign.campaign_id;
  sandbox.clock.advance(3_600_000);
  const [now, later] = [
    (await submit(sandbox, [other], { call_name: 'Now' })).campaign.campaign_id,
    (await submit(sandbox, [other], { scheduled_time_unix: inThirtyDays })).campaign.campaign_id,
  ];
  expect((await sandbox.post(`${campaigns}/pause-all`)).body).toEqual({ paused_campaign_ids: [now, later] });
  const stopped = await sandbox.post(`${campaigns}/stop-all`);
  expect([stopped.status, stopped.body]).toEqual([202, { stopped_campaign_ids: [later], stopping_campaign_ids: [now] }]);
  expect((await read(sandbox, first)).status).toBe('completed');
});

test('a removed lead is not called, unless its call is under way', async ({ sandbox }) => {
  const { campaign } = await submit(sandbox, [answers, other], { target_concurrency_limit: 1 });
  const id = campaign.campaign_id;
  const { leads } = await read(sandbox, `${id}/leads`);
  const remove = async (lead: Json): Promise<[number, Json]> => {
    const { status, body } = await sandbox.delete(`${campaigns}/${id}/leads/${lead.lead_id}`);
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

test('what was sent along for a recipient is heard, and told with its secrets redacted', async ({ sandbox }) => {
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

test.for<[string, Json, (string | number)[]]>([
  ['the variant that is the default', { variant: undefined }, ['variant']],
  ['the advanced variant', { variant: 'advanced', policy: { timezone: 'UTC' } }, ['variant']],
  ['a simple one with a policy', { policy: { timezone: 'UTC' } }, ['policy']],
  ['another channel', { channel_config: { channel: 'whatsapp', agent_phone_number_id: 'pn_main' } }, ['channel_config', 'channel']],
  ['a recipient without a number', { recipients: [{ id: 'row_0' }] }, ['recipients', 0, 'phone_number']],
  ['a number that cannot be dialled', { recipients: [{ phone_number: '+12125550120' }] }, ['recipients', 0, 'phone_number']],
  ['a field that is not known', { retries: 3 }, ['retries']],
])('%s is refused, and named', async ([_what, more, place], { sandbox }) => {
  const { status, body } = await sandbox.post(`${campaigns}/submit`, submission([answers], more));
  expect([status, body.detail[0]?.loc]).toEqual([422, ['body', ...place]]);
  expect(sandbox.calls()).toEqual([]);
});

test('what is wrong with a campaign is said before the key is looked at', async ({ sandbox }) => {
  const asked = [submission([answers], { retries: 3 }), submission([answers])].map(async (body) => {
    const answer = await sandbox.post(`${campaigns}/submit`, body, { headers: { 'x-api-key': 'sk_of_nobody' } });
    return answer.status;
  });
  expect(await Promise.all(asked)).toEqual([422, 401]);
});

test('lists, reports and orders fail and lag on request, and what an order did is seen afterwards', async ({ sandbox }) => {
  const id = (await submit(sandbox, [answers, other, isBusy], { target_concurrency_limit: 1 })).campaign.campaign_id;
  sandbox.addFaults([
    { operation: 'list_campaigns', nth: 1, effect: { type: 'hide', ms: 60_000 } },
    { operation: 'list_campaign_calls', nth: 1, effect: { type: 'duplicate' } },
    { operation: 'list_leads', nth: 2, effect: { type: 'expire_cursor' } },
    { operation: 'get_campaign', nth: 1, effect: { type: 'missing' } },
    { operation: 'stop_campaign', nth: 1, effect: { type: 'error', status: 503, when: 'after' } },
    { operation: 'remove_lead', nth: 1, effect: { type: 'error', status: 503 } },
  ]);
  const counts = async (path: string, of: string): Promise<number[]> => {
    const [first, second] = [(await sandbox.get(campaigns + path)).body, (await sandbox.get(campaigns + path)).body];
    return [first[of].length, second[of].length];
  };
  expect(await counts('', 'campaigns')).toEqual([0, 1]);
  expect(await counts(`/${id}/calls`, 'calls')).toEqual([4, 3]);
  const leads = await read(sandbox, `${id}/leads?page_size=2`);
  const next = `${campaigns}/${id}/leads?page_size=2&cursor=${leads.next_cursor}`;
  expect([(await sandbox.get(next)).status, (await sandbox.get(next)).status]).toEqual([200, 422]);
  expect([(await sandbox.get(`${campaigns}/${id}`)).status, (await sandbox.get(`${campaigns}/${id}`)).status]).toEqual([404, 200]);
  expect((await sandbox.delete(`${campaigns}/${id}/leads/${leads.leads[0].lead_id}`)).status).toBe(503);
  const dispositions = async (): Promise<string[]> =>
    (await read(sandbox, `${id}/leads`)).leads.map((lead: Json) => lead.terminal_disposition);
  expect(await dispositions()).toEqual([null, null, null]);
  expect((await sandbox.post(`${campaigns}/${id}/stop`)).status).toBe(503);
  expect(await dispositions()).toEqual(['campaign_ended', 'campaign_ended', null]);
});

test('a campaign without a limit of its own has half of the lines, and rings no longer than it says', async () => {
  const sandbox = await start({}, { concurrency: 4 });
  const channel_config = { channel: 'phone', agent_phone_number_id: 'pn_main', mode_config: { ringing_timeout_secs: 10 } };
  const { campaign } = await submit(sandbox, [isAbsent, answers, other], { channel_config });
  expect(campaign.channel_config).toEqual(channel_config);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt !== null)).toEqual([true, true, false]);
  sandbox.clock.advance(3_600_000);
  await sandbox.get(campaigns);
  const [absent] = sandbox.calls();
  expect([absent?.result, (absent?.endedAt ?? 0) - (absent?.dialedAt ?? 0)]).toEqual(['no_answer', 10_000]);
});

test('the document of the sandbox says by which statuses campaigns are answered', async ({ sandbox }) => {
  const { paths } = await sandbox.read('/openapi.json');
  const successes = (path: string, method = 'post'): string[] =>
    Object.keys(paths[campaigns + path][method].responses).filter((status) => status.startsWith('2'));
  const ofLead = successes('/{campaign_id}/leads/{lead_id}', 'delete');
  expect([successes('/submit'), successes('/{campaign_id}/stop'), ofLead]).toEqual([
    ['200', '201'],
    ['200', '202'],
    ['200', '202'],
  ]);
  expect(successes('/{campaign_id}/pause')).toEqual(['200']);
});
