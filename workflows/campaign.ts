import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  currentUpdateInfo,
  log,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Activities } from '../activities/index.ts';
import { undecidedStates } from '../src/domain/ledger.ts';
import type { completionNotice } from './completion-notice.ts';
import {
  cancelUpdate,
  completionNoticeId,
  drainUpdate,
  lookAgainUpdate,
  pauseUpdate,
  resumeUpdate,
  statusQuery,
  type CampaignCounters,
  type CampaignInput,
  type CampaignTimeouts,
  type CampaignQueues,
  type CompletionNoticeInput,
} from './messages.ts';

type StateChange = Parameters<Activities['changeState']>[0]['change'];

/** Events after which a run continues as new: well below where the server suggests it, since steps under way still add theirs. */
const mostEvents = 3_500;

/** Waits that end at an instant, whatever the open calls do. */
const toldByClock: readonly string[] = ['blocked', 'pacing', 'paused', 'scheduled'];

const retryForEver = { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 };

/** Activities by timeout class; each class has its own queue where its pace or its worker differs. */
function proxies(queues: CampaignQueues, timeouts: CampaignTimeouts) {
  const short = proxyActivities<Pick<Activities, 'verify' | 'plan' | 'recordPostVerdict' | 'changeState' | 'account'>>({
    taskQueue: queues.campaign,
    startToCloseTimeout: timeouts.shortMs,
    retry: retryForEver,
  });
  // No cancellation: a POST that is under way ends by itself, and the ledger guards against a second one.
  const posting = proxyActivities<Pick<Activities, 'submit'>>({
    taskQueue: queues.submit,
    startToCloseTimeout: timeouts.submitMs,
    heartbeatTimeout: timeouts.submitHeartbeatMs,
    retry: retryForEver,
  });
  const collecting = proxyActivities<Pick<Activities, 'collect'>>({
    taskQueue: queues.collect,
    startToCloseTimeout: timeouts.collectMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: { ...retryForEver, maximumInterval: 15_000 },
  });
  return { short, posting, collecting };
}

/** Has the completion hook told of the end by a workflow of its own, which this one does not wait for. */
async function startNotice(notice: CompletionNoticeInput): Promise<void> {
  const { campaignId, round, queues } = notice;
  try {
    await startChild<typeof completionNotice>('completionNotice', {
      workflowId: completionNoticeId(campaignId, round),
      taskQueue: queues.campaign,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `tells of the end of ${campaignId}, round ${round}`.slice(0, 200),
      args: [notice],
    });
  } catch (error) {
    // A round that was accounted for twice is told of once.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** One round of a campaign: verify agent and caller number, dial while collecting, then close the books. */
export async function campaign(input: CampaignInput): Promise<CampaignCounters> {
  const { campaignId, round } = input;
  const { short, posting, collecting } = proxies(input.queues, input.timeouts);
  const counters: CampaignCounters = {
    state: input.verified ? 'dialling' : 'verifying',
    waitingFor: null,
    submitted: input.submitted,
    total: 0,
    done: 0,
    open: 0,
    waiting: 0,
    unresolved: 0,
  };
  /** Grows with everything that may change the planner's answer. */
  let changes = 0;
  let collectWanted = false;
  let dialled: 'no' | 'all' | 'parked' = 'no';
  let rolling = false;

  /** Wishes that this run was told. All have been granted before it continues as new. */
  let wishes = 0;
  const change = async (wished: StateChange): Promise<boolean> => {
    wishes += 1;
    const { runId: run, firstExecutionRunId } = workflowInfo();
    // The same after a reset, which tells a new run what the old one was told.
    const id = `${firstExecutionRunId}/${currentUpdateInfo()?.id ?? `${run}/${wishes}`}`;
    const wish = { id, run, number: wishes };
    const { changed } = await CancellationScope.nonCancellable(() =>
      short.changeState({ campaignId, change: wished, wish }),
    );
    changes += 1;
    return changed;
  };
  const refuseAfterEnd = () => {
    if (counters.state === 'closed') throw ApplicationFailure.nonRetryable('The campaign has ended', 'CampaignEnded');
  };
  setHandler(pauseUpdate, () => change('pause'), { validator: refuseAfterEnd });
  setHandler(resumeUpdate, () => change('resume'), { validator: refuseAfterEnd });
  setHandler(drainUpdate, () => change('drain'), { validator: refuseAfterEnd });
  setHandler(cancelUpdate, () => change('cancel'), { validator: refuseAfterEnd });
  setHandler(
    lookAgainUpdate,
    () => {
      changes += 1;
      return true;
    },
    { validator: refuseAfterEnd },
  );
  setHandler(statusQuery, () => counters);

  const waitForChange = async (seen: number, atMostMs: number | null): Promise<void> => {
    const changed = () => changes !== seen || rolling;
    if (atMostMs === null) await condition(changed);
    else await condition(changed, atMostMs);
  };

  /** Agent and caller number must be fit to call; where they are not, the campaign is paused until a person has mended it. */
  const verify = async (): Promise<void> => {
    while (!input.verified) {
      const seen = changes;
      const checked = await short.verify({ campaignId });
      if (checked.ok) return;
      counters.state = 'paused';
      // Histories of earlier versions have no time in it.
      await waitForChange(seen, checked.inMs ?? null);
      counters.state = 'verifying';
    }
  };

  const submit = async (batchId: string): Promise<void> => {
    for (;;) {
      const result = await CancellationScope.nonCancellable(() => posting.submit({ batchId }));
      if (result.kind === 'verdict') break;
      const { state } = await CancellationScope.nonCancellable(() => short.recordPostVerdict(result.verdict));
      // The batch is still to be submitted, or nobody would ever come back for it.
      if (!undecidedStates.includes(state)) break;
    }
    counters.submitted += 1;
    collectWanted = true;
  };

  const dial = async (): Promise<void> => {
    while (dialled === 'no') {
      const { continueAsNewSuggested, historyLength } = workflowInfo();
      rolling ||= continueAsNewSuggested || historyLength >= mostEvents;
      if (rolling) {
        dialled = 'parked';
        return;
      }
      const seen = changes;
      const next = await short.plan({ campaignId, round, n: counters.submitted + 1 });
      if (next.kind === 'batch') {
        counters.state = 'dialling';
        counters.waitingFor = null;
        await submit(next.batchId);
      } else if (next.kind === 'done') {
        dialled = 'all';
      } else {
        counters.state = next.reason === 'paused' ? 'paused' : 'dialling';
        counters.waitingFor = next.reason;
        collectWanted ||= next.outstanding;
        // While calls are open the collector says when planning makes sense again; otherwise only the clock does.
        const collectorTells = next.outstanding && !toldByClock.includes(next.reason);
        await waitForChange(seen, collectorTells ? null : next.inMs);
      }
    }
  };

  const collect = async (): Promise<void> => {
    for (;;) {
      await condition(() => collectWanted || dialled !== 'no');
      if (dialled !== 'no') return;
      collectWanted = false;
      const { outstanding, progress } = await collecting.collect({ campaignId });
      Object.assign(counters, progress);
      collectWanted ||= outstanding;
      changes += 1;
      setCurrentDetails(
        `${progress.done} of ${progress.total} done, ${progress.open} calls open, ${progress.waiting} waiting, ${progress.unresolved} unresolved`,
      );
    }
  };

  await verify();
  counters.state = 'dialling';
  for (;;) {
    dialled = 'no';
    await Promise.all([dial(), collect()]);
    if (rolling) break;
    counters.state = 'accounting';
    const { closed, progress, end } = await short.account({ campaignId, round });
    Object.assign(counters, progress);
    // Earlier versions had no hook to tell, and no command for it in their histories.
    if (closed && end != null)
      await startNotice({ campaignId, round, end, queues: input.queues, timeouts: input.timeouts });
    if (closed) break;
    log.info('the books cannot be closed yet', { campaignId, round });
    counters.state = 'dialling';
  }
  if (!rolling) counters.state = 'closed';
  await condition(allHandlersFinished);
  if (rolling) await continueAsNew<typeof campaign>({ ...input, submitted: counters.submitted, verified: true });
  return counters;
}
