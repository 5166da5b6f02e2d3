import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  currentUpdateInfo,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PlanActivityResult } from '../activities/plan.ts';
import { batchNumberOf } from '../src/rules/ids.ts';
import { undecidedStates } from '../src/rules/ledger.ts';
import { nextStep } from '../src/rules/pacing/next-step.ts';
import { describeCampaign } from './campaign-details.ts';
import {
  cancelUpdate,
  drainUpdate,
  knownResumeUpdate,
  lookAgainUpdate,
  onlyPromisesSignal,
  pauseUpdate,
  rowsAddedSignal,
  statusQuery,
  type CampaignCounters,
  type CampaignInput,
  type ResumeInput,
  type WorkflowSetting,
} from './messages.ts';
import { startNotice } from './notices.ts';

type StateChange = Pick<Parameters<Activities['changeState']>[0], 'change' | 'reason'>;

/** A run continues as new well below the server's suggestion, since steps under way still add events. */
const mostEvents = 3_500;

const retryForEver = { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 };

/** Each timeout class has its own queue where its pace or its worker differs. */
function proxies({ queues, timeouts }: WorkflowSetting) {
  const short = proxyActivities<Pick<Activities, 'checkCallers' | 'plan' | 'recordPostVerdict' | 'changeState' | 'closeRound'>>({
    taskQueue: queues.campaign,
    startToCloseTimeout: timeouts.shortMs,
    heartbeatTimeout: timeouts.submitHeartbeatMs,
    retry: retryForEver,
  });
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

/**
 * One round of a campaign: checks agent and numbers, dials while collecting, then closes the round. Cancelling it in Temporal drains it,
 * like `carillon drain`: a POST under way ends by itself, and open calls are collected.
 */
export async function campaign(input: CampaignInput): Promise<CampaignCounters> {
  const { cancelRequested } = CancellationScope.current();
  return CancellationScope.nonCancellable(() => runCampaign(input, cancelRequested));
}

async function runCampaign(input: CampaignInput, cancelRequested: Promise<never>): Promise<CampaignCounters> {
  const { campaignId, round, queues, timeouts } = input;
  const { short, posting, collecting } = proxies(input);
  const counters: CampaignCounters = {
    state: input.callersChecked ? 'dialling' : 'checking',
    waitingFor: null,
    submitted: input.submitted,
    total: 0,
    done: 0,
    open: 0,
    waiting: 0,
    unresolved: 0,
  };
  /** Shows the state by status query and in Temporal's UI; not part of the history. */
  const showState = (state: CampaignCounters['state'], waitingFor: string | null = null): void => {
    Object.assign(counters, { state, waitingFor });
    setCurrentDetails(describeCampaign(counters));
  };
  showState(counters.state);
  /** Counts changes that may alter the planner's answer. */
  let changes = 0;
  let isCollectDue = false;
  let dialled: 'no' | 'all' | 'parked' = 'no';
  let rolling = false;

  /** Requests received; all are handled before this run continues as new. */
  let requestCount = 0;
  const change = async (stateChange: StateChange, known: Partial<ResumeInput> = {}): Promise<boolean> => {
    requestCount += 1;
    const { runId: run, firstExecutionRunId } = workflowInfo();
    // Stable across a reset, which replays the old run's requests.
    const id = `${firstExecutionRunId}/${currentUpdateInfo()?.id ?? `${run}/${requestCount}`}`;
    const request = { ...known, id, run, number: requestCount };
    const { changed } = await CancellationScope.nonCancellable(() =>
      short.changeState.executeWithOptions({ summary: stateChange.change, priority: { priorityKey: 1 } }, [
        { campaignId, ...stateChange, wish: request },
      ]),
    );
    changes += 1;
    return changed;
  };
  const refuseAfterEnd = () => {
    if (counters.state === 'closed') throw ApplicationFailure.nonRetryable('The campaign has ended', 'CampaignEnded');
  };
  const grant = (update: typeof pauseUpdate, changeKind: StateChange['change'], description: string): void =>
    setHandler(update, () => change({ change: changeKind }), { validator: refuseAfterEnd, description });
  grant(pauseUpdate, 'pause', 'Place no further calls; open ones are still collected');
  setHandler<boolean, [ResumeInput], typeof knownResumeUpdate>(knownResumeUpdate, (known) => change({ change: 'resume' }, known), {
    validator: refuseAfterEnd,
    description: 'Go on with a paused campaign',
  });
  grant(drainUpdate, 'drain', 'Finish with the calls that are open; the campaign counts as completed');
  grant(cancelUpdate, 'cancel', 'End the campaign; open calls are still collected');
  setHandler(rowsAddedSignal, () => {
    changes += 1;
  });
  setHandler(
    lookAgainUpdate,
    () => {
      changes += 1;
      return true;
    },
    { validator: refuseAfterEnd, description: 'Look at once at rows and limits that were changed in the database' },
  );
  setHandler(statusQuery, () => counters, { description: 'State, what it waits for, and counters' });

  let isCancelled = false;
  const drained = cancelRequested.catch(() => {
    isCancelled = true;
    return change({ change: 'drain', reason: 'its workflow was cancelled in Temporal' });
  });

  /** True once the history has grown long, so that this run continues as new. */
  const isRolling = (): boolean => {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    rolling ||= continueAsNewSuggested || historyLength >= mostEvents;
    return rolling;
  };

  const waitForChange = async (seen: number, atMostMs: number | null): Promise<void> => {
    const changed = () => changes !== seen;
    if (atMostMs === null) await condition(changed);
    else await condition(changed, atMostMs, { summary: `waits: ${counters.waitingFor ?? counters.state}` });
  };

  let scheduleKnows = false;
  /** Lets the schedule start its next run: only callbacks are left here. */
  const notifySchedule = async (): Promise<void> => {
    const { parent } = workflowInfo();
    if (parent === undefined || scheduleKnows) return;
    scheduleKnows = true;
    await getExternalWorkflowHandle(parent.workflowId, parent.runId)
      .signal(onlyPromisesSignal)
      // The parent already knows, or was terminated.
      .catch(() => {});
  };

  let notifiedPause: number | null = null;
  const notifyOfPause = async (pausedAt: number | null | undefined): Promise<void> => {
    if (pausedAt == null || pausedAt === notifiedPause) return;
    notifiedPause = pausedAt;
    await startNotice({ campaignId, round, pausedAt, queues, timeouts });
  };

  /** Pauses the campaign until agent and numbers may call. False when that is left to the next run. */
  const checkCallers = async (): Promise<boolean> => {
    while (!isRolling()) {
      const seen = changes;
      const checked = await short.checkCallers({ campaignId });
      if (checked.ok) return true;
      showState('paused', 'paused');
      await notifyOfPause(checked.pausedAt);
      await waitForChange(seen, checked.inMs);
      showState('checking');
    }
    return false;
  };

  /** Last batch and its state, for summaries. */
  let last = '';
  /** Submits a batch and those its activity continues with. Answers the planner's next result; null: unknown. */
  const submit = async ({ batchId, size }: { batchId: string; size: number }): Promise<PlanActivityResult | null> => {
    let [current, planned]: [string, PlanActivityResult | null] = [batchId, null];
    // Sending may go on for long; what is sent must be collected meanwhile.
    isCollectDue = true;
    for (;;) {
      const batchNumber = batchNumberOf(current);
      const summary = current === batchId ? `from batch ${batchNumber}, ${size} calls` : `from batch ${batchNumber} again`;
      const thenPlan = { campaignId, round, batchNumber: batchNumber + 1 };
      const result = await posting.submit.executeWithOptions({ summary }, [{ batchId: current, thenPlan }]);
      if (result.kind === 'verdict') {
        current = result.batchId;
        last = `batch ${batchNumberOf(current)}: ${result.state}`;
        planned = result.planned ?? null;
        break;
      }
      current = result.verdict.batchId;
      last = `batch ${batchNumberOf(current)}: ${result.verdict.verdict}`;
      const { state } = await short.recordPostVerdict.executeWithOptions({ summary: last }, [result.verdict]);
      // Otherwise an undecided batch would never be submitted.
      if (!undecidedStates.includes(state)) break;
    }
    counters.submitted = batchNumberOf(current);
    isCollectDue = true;
    return planned;
  };

  const plan = async (): Promise<PlanActivityResult> => {
    const batchNumber = counters.submitted + 1;
    const summary = last === '' ? `plans batch ${batchNumber}` : `plans batch ${batchNumber}, after ${last}`;
    return short.plan.executeWithOptions({ summary }, [{ campaignId, round, batchNumber }]);
  };

  const dial = async (): Promise<void> => {
    let known: PlanActivityResult | null = null;
    let seen = changes;
    while (dialled === 'no') {
      // The next run gets a batch that is planned but not submitted.
      if (isRolling()) {
        dialled = 'parked';
        return;
      }
      if (known === null) seen = changes;
      const planned: PlanActivityResult = known ?? (await plan());
      known = null;
      const step = nextStep(planned);
      if (step.kind === 'dial') {
        showState('dialling');
        // The planner may not have seen later changes.
        seen = changes;
        known = await submit(step);
      } else if (step.kind === 'done') {
        dialled = 'all';
      } else {
        showState(step.reason === 'paused' ? 'paused' : 'dialling', step.reason);
        isCollectDue ||= step.outstanding;
        await notifyOfPause(planned.pausedAt);
        if (step.onlyPromises) await notifySchedule();
        await waitForChange(seen, step.forMs);
      }
    }
  };

  const collect = async (): Promise<void> => {
    for (;;) {
      await condition(() => isCollectDue || dialled !== 'no');
      if (dialled !== 'no') return;
      isCollectDue = false;
      const { outstanding, progress } = await collecting.collect({ campaignId });
      Object.assign(counters, progress);
      isCollectDue ||= outstanding;
      changes += 1;
      showState(counters.state, counters.waitingFor);
    }
  };

  const callersChecked = input.callersChecked || (await checkCallers());
  for (;;) {
    if (rolling) break;
    showState('dialling');
    dialled = 'no';
    await Promise.all([dial(), collect()]);
    if (rolling) break;
    showState('closing');
    const { closed, progress, end } = await short.closeRound({ campaignId, round });
    Object.assign(counters, progress);
    if (closed && end !== null) await startNotice({ campaignId, round, end, queues, timeouts });
    if (closed) break;
    log.info('the books cannot be closed yet', { campaignId, round });
  }
  if (!rolling) showState('closed');
  await condition(allHandlersFinished);
  if (isCancelled) await drained;
  if (rolling) await continueAsNew<typeof campaign>({ ...input, submitted: counters.submitted, callersChecked });
  return counters;
}
