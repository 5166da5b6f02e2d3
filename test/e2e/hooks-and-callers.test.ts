import { expect, test } from 'vitest';
import { fetch } from 'undici';
import { campaignWorkflowId, completionNoticeId } from '../../src/rules/ids.ts';
import { resumeUpdate } from '../../workflows/messages.ts';
import { findCampaign, type Campaign } from '../../src/ledger/rows/campaigns.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { readHookStanding } from '../../src/ledger/campaign/hook-standing.ts';
import { allowAll, sendJson, startHookServer, type HookCall } from '../shared/hooks/hook-server.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { findTokens, textOfWorkflow } from '../support/leak-scan.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { until, patienceMs } from '../support/until.ts';
import { readCallerUse } from '../../src/ledger/limits/callers.ts';

const temporal = useSharedTemporal();

const secret = 'a-secret-for-tests-only';
const settings = { CARILLON_HOOK_SECRET: secret, CARILLON_HOOK_NETWORKS: '127.0.0.1' };

async function campaignOf(run: CampaignRun): Promise<Campaign> {
  const campaign = await findCampaign(run.store.db, run.id);
  if (campaign === undefined) throw new Error('the campaign has gone');
  return campaign;
}

async function standingOf(run: CampaignRun) {
  return readHookStanding(run.store.db, await campaignOf(run));
}

const isEnd = ({ body }: HookCall): boolean => body.event === 'campaign.ended';
const isPause = ({ body }: HookCall): boolean => body.event === 'campaign.paused';
const postsOf = (run: CampaignRun): number => run.sandbox.journal().filter((entry) => entry.operation === 'batch_calls').length;

test('both hooks: those it refuses are not called, and the end is told until it is heard', async () => {
  const hook = await startHookServer();
  const preDial = { url: hook.url, timeoutMs: 20_000 };
  const onCompletion = { url: hook.url };
  const refused = (row: number): boolean => row % 4 === 0;
  hook.answerWith((response, call) => {
    if (isEnd(call)) return sendJson(response, {}, hook.calls.filter(isEnd).length === 1 ? 503 : 200);
    const recipients = (call.body.recipients ?? []).map(({ ref, row }) =>
      refused(row) ? { ref, eligible: false, reason: 'no_consent' } : { ref, eligible: true },
    );
    sendJson(response, { recipients });
  });
  await withRun({ id: 'hooks', seed: 961, temporal, rules: { preDial, onCompletion }, settings }, async (run) => {
    run.startWorker();
    await run.start();
    const { total } = await run.untilEnd();
    // Nobody waits for the hook: the campaign is over in the ledger and in Temporal.
    expect(await campaignOf(run)).toMatchObject({ state: 'completed' });
    await until('the hook has heard of the end', async () => (await standingOf(run)).completion === 'delivered');

    const { recipients } = await judgeRun(run);
    const kept = recipients.filter((row) => refused(row.row_number));
    expect(kept.map(({ outcome, reason }) => [outcome, reason])).toEqual(kept.map(() => ['undialable', 'pre_dial:no_consent']));
    const called = new Set(run.sandbox.calls().map((call) => call.to));
    expect(kept.filter(({ e164 }) => called.has(e164 ?? ''))).toEqual([]);
    const asked = hook.calls.filter((call) => !isEnd(call)).flatMap(({ body }) => body.recipients ?? []);
    expect([...called].filter((number) => !asked.some(({ phone }) => phone === number))).toEqual([]);

    const [first, second, ...more] = hook.calls.filter(isEnd);
    expect(more).toEqual([]);
    expect(second?.text).toBe(first?.text);
    expect(hook.calls.filter(isEnd).map(({ headers }) => headers['webhook-id'])).toEqual(['hooks/1', 'hooks/1']);
    const outcomes: Record<string, number> = {};
    for (const { outcome } of recipients) outcomes[outcome ?? ''] = (outcomes[outcome ?? ''] ?? 0) + 1;
    expect(first?.body).toMatchObject({ campaign: 'hooks', round: 1, state: 'completed', rows: total, outcomes });
    const tokens = [run.apiKey, secret, ...run.list.tokens];
    const notice = await textOfWorkflow(run.client, completionNoticeId(run.id, 1), []);
    expect(notice).toContain('notify');
    expect(findTokens(`${notice} ${first?.text}`, tokens)).toEqual([]);
    for (const worker of run.workers) expect(findTokens(worker.output(), [secret, 'token=planted'])).toEqual([]);
  });
});

test('while the hook is down nobody is called; when it is back the campaign goes on', async () => {
  const hook = await startHookServer();
  const rules = { preDial: { url: hook.url, timeoutMs: 20_000 } };
  // The campaign pauses after fifteen minutes of silence: time enough for a worker to start.
  const sandbox = { speed: 20 };
  await withRun({ id: 'hook-down', seed: 962, temporal, batchSize: 6, rules, settings, sandbox }, async (run) => {
    // Down once a batch has been sent.
    hook.answerWith((response, call) => {
      if (postsOf(run) === 0) void allowAll(response, call);
      else response.socket?.destroy();
    });
    const worker = run.startWorker();
    await run.start();
    await until('a batch waits for the hook', async () => (await standingOf(run)).silentSince !== null);
    await hook.stop();
    const posts = postsOf(run);
    expect(posts).toBe(1);
    await worker.kill();
    run.startWorker();
    const handle = run.client.workflow.getHandle(campaignWorkflowId(run.id, 1));
    await until('it has been tried again', async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.some(
        ({ activityType, attempt, lastFailure }) =>
          activityType?.name === 'submit' && (attempt ?? 0) > 3 && lastFailure?.applicationFailureInfo?.type === 'Screening',
      );
    });
    expect(await standingOf(run)).not.toMatchObject({ silentSince: null });
    expect(postsOf(run)).toBe(posts);
    hook.answerWith(allowAll);
    await hook.startAgain();
    await run.untilEnd();
    await judgeRun(run);
  });
});

test('a hook that stays silent pauses the campaign, which is told when it is back; a person resumes it; one that refuses the end is not told', async () => {
  const hook = await startHookServer((response, call) => {
    if (isEnd(call)) sendJson(response, {}, 410);
    else void allowAll(response, call);
  });
  await hook.stop();
  const told = { url: hook.url };
  const rules = { preDial: { ...told, timeoutMs: 20_000 }, onCompletion: told, onPause: told };
  await withRun({ id: 'hook-silent', seed: 963, temporal, recipients: 8, rules, settings }, async (run) => {
    run.startWorker();
    await run.start();
    await until('the campaign pauses', async () => (await campaignOf(run)).state === 'paused');
    expect((await campaignOf(run)).stateReason).toMatch(/^The pre-dial hook has given no usable answer .*ECONNREFUSED/);
    expect(postsOf(run)).toBe(0);
    await hook.startAgain();
    await until('the hook has heard of the pause', async () => (await standingOf(run)).pause === 'delivered');
    const [pause] = hook.calls.filter(isPause);
    expect(pause?.body).toMatchObject({ campaign: 'hook-silent', reason: (await campaignOf(run)).stateReason });
    await run.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).executeUpdate(resumeUpdate);
    await run.untilEnd();
    expect(hook.calls.filter(isPause)).toHaveLength(1);
    await until('the end is given up', async () => (await standingOf(run)).completion === 'failed');
    await judgeRun(run);
    expect(hook.calls.filter(isEnd)).toHaveLength(1);
    const noted = await readEvents(run.store.db, run.id, {
      afterSeq: 0,
      limit: 1000,
      types: ['hook.failed', 'hook.delivered'],
    });
    expect(noted.map(({ data }) => data)).toEqual([
      { hook: 'pre_dial', fault: 'no_connection' },
      { hook: 'on_pause', round: 1, pausedAt: Date.parse(String(pause?.body['paused_at'])) },
      { hook: 'on_completion', round: 1, fault: 'status', status: 410 },
    ]);
  });
});

async function usesOf(run: CampaignRun) {
  return readCallerUse(run.store.db, await campaignOf(run));
}

test('of three numbers two may call: they share the list, also when the worker is killed on the way', async () => {
  const callers = { numbers: ['pn_main', 'pn_second', 'pn_unverified'], choice: 'rotation' } as const;
  await withRun({ id: 'callers', seed: 951, temporal, batchSize: 5, rules: { callers } }, async (run) => {
    const worker = run.startWorker();
    await run.start();
    const gate = run.sandbox.gates.set('batch_work_done', 3);
    const info = await run.sandbox.gates.waitUntilReached(gate, patienceMs);
    await worker.kill();
    run.sandbox.gates.release(gate);
    run.startWorker();
    await run.untilEnd();
    await judgeRun(run, { lostReplies: [info?.requestId ?? 'nothing came'] });
    const [first, second, third] = await usesOf(run);
    expect(third).toMatchObject({ out: 'not_verified', calls: 0 });
    expect((first?.calls ?? 0) + (second?.calls ?? 0)).toBe(run.sandbox.calls().length);
    const given = await run.store.db.selectFrom('callers').select('given').orderBy('position').execute();
    expect(given).toEqual([{ given: 12 }, { given: 12 }, { given: 0 }]);
  });
});

test('no number may call: nothing is dialled until a person has mended one and resumed', async () => {
  const callers = { numbers: ['pn_unverified', 'pn_nowhere'], choice: 'region' } as const;
  await withRun({ id: 'no-caller', seed: 952, temporal, recipients: 6, rules: { callers } }, async (run) => {
    run.startWorker();
    await run.start();
    await until('the campaign pauses', async () => (await campaignOf(run)).state === 'paused');
    expect((await campaignOf(run)).stateReason).toMatch(
      /^None of the 2 caller numbers may call \(pn_unverified is not verified, pn_nowhere is not known to the service\)/,
    );
    const handle = run.client.workflow.getHandle(campaignWorkflowId(run.id, 1));
    await handle.executeUpdate(resumeUpdate);
    await until('it pauses again', async () => (await campaignOf(run)).state === 'paused');
    expect(run.sandbox.calls()).toEqual([]);

    await fetch(`${run.sandbox.url}/_sandbox/numbers/pn_unverified/verify`, { method: 'POST' });
    await handle.executeUpdate(resumeUpdate);
    await run.untilEnd();
    await judgeRun(run);
    expect((await usesOf(run)).map(({ out }) => out)).toEqual([null, 'unknown']);
  });
});
