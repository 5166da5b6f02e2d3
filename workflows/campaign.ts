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

/** Events after which a run continues as new: well below where the server suggests it, since steps under way still add theirs. */
const mostEvents = 3_500;

const retryForEver = { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 };

/** Activities by timeout class; each class has its own queue where its pace or its worker differs. */
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
 * One round of a campaign: check agent and caller number, dial while collecting, then close the books. Nothing of it is cancelled: one that
 * is cancelled in Temporal drains, as by `carillon drain`. A POST that is under way ends by itself, and the results of open calls are
 * awaited.
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
  /** The state that whoever asks is told, and that Temporal's UI shows at any time; no part of the history. */
  const tell = (state: CampaignCounters['state'], waitingFor: string | null = null): void => {
    Object.assign(counters, { state, waitingFor });
    setCurrentDetails(describeCampaign(counters));
  };
  tell(counters.state);
  /** Grows with everything that may change the planner's answer. */
  let changes = 0;
  let collectWanted = false;
  let dialled: 'no' | 'all' | 'parked' = 'no';
  let rolling = false;

  /** Wishes that this run was told. All have been granted before it continues as new. */
  let wishes = 0;
  const change = async (wished: StateChange, known: Partial<ResumeInput> = {}): Promise<boolean> => {
    wishes += 1;
    const { runId: run, firstExecutionRunId } = workflowInfo();
    // The same after a reset, which tells a new run what the old one was told.
    const id = `${firstExecutionRunId}/${currentUpdateInfo()?.id ?? `${run}/${wishes}`}`;
    const wish = { ...known, id, run, number: wishes };
    const { changed } = await CancellationScope.nonCancellable(() =>
      short.changeState.executeWithOptions({ summary: wished.change, priority: { priorityKey: 1 } }, [{ campaignId, ...wished, wish }]),
    );
    changes += 1;
    return changed;
  };
  const refuseAfterEnd = () => {
    if (counters.state === 'closed') throw ApplicationFailure.nonRetryable('The campaign has ended', 'CampaignEnded');
  };
  const grant = (update: typeof pauseUpdate, wished: StateChange['change'], description: string): void =>
    setHandler(update, () => change({ change: wished }), { validator: refuseAfterEnd, description });
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

  /** Whether this run continues as new: its history has grown long. */
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

  let firingKnows = false;
  /** The schedule that this campaign is a firing of may go on: what is left was promised. */
  const tellFiring = async (): Promise<void> => {
    const { parent } = workflowInfo();
    if (parent === undefined || firingKnows) return;
    firingKnows = true;
    await getExternalWorkflowHandle(parent.workflowId, parent.runId)
      .signal(onlyPromisesSignal)
      // It has heard that already, or was ended by hand.
      .catch(() => {});
  };

  /** The last pause of its own that a hook was to be told of. */
  let toldPause: number | null = null;
  const tellPause = async (pausedAt: number | null | undefined): Promise<void> => {
    if (pausedAt == null || pausedAt === toldPause) return;
    toldPause = pausedAt;
    await startNotice({ campaignId, round, pausedAt, queues, timeouts });
  };

  /**
   * Agent and caller number must be fit to call; where they are not, the campaign is paused until a person has mended it. Answers false
   * when that is left to the next run.
   */
  const checkCallers = async (): Promise<boolean> => {
    while (!isRolling()) {
      const seen = changes;
      const checked = await short.checkCallers({ campaignId });
      if (checked.ok) return true;
      tell('paused', 'paused');
      await tellPause(checked.pausedAt);
      await waitForChange(seen, checked.inMs);
      tell('checking');
    }
    return false;
  };

  /** The last batch and what became of it, as summaries name it. */
  let last = '';
  /** Submits a batch, and those that its activity goes on with. Answers what the planner said of the next one, if it was heard. */
  const submit = async ({ batchId, size }: { batchId: string; size: number }): Promise<PlanActivityResult | null> => {
    let [current, planned]: [string, PlanActivityResult | null] = [batchId, null];
    // Whoever sends goes on sending, and what has been sent is not to wait for its end.
    collectWanted = true;
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
      // The batch is still to be submitted, or nobody would ever come back for it.
      if (!undecidedStates.includes(state)) break;
    }
    counters.submitted = batchNumberOf(current);
    collectWanted = true;
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
      // A batch that is planned and not submitted is answered to the next run as well.
      if (isRolling()) {
        dialled = 'parked';
        return;
      }
      if (known === null) seen = changes;
      const planned: PlanActivityResult = known ?? (await plan());
      known = null;
      const step = nextStep(planned);
      if (step.kind === 'dial') {
        tell('dialling');
        // What changes from here on may not have been seen by the planner.
        seen = changes;
        known = await submit(step);
      } else if (step.kind === 'done') {
        dialled = 'all';
      } else {
        tell(step.reason === 'paused' ? 'paused' : 'dialling', step.reason);
        collectWanted ||= step.outstanding;
        await tellPause(planned.pausedAt);
        if (step.onlyPromises) await tellFiring();
        await waitForChange(seen, step.forMs);
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
      tell(counters.state, counters.waitingFor);
    }
  };

  const callersChecked = input.callersChecked || (await checkCallers());
  for (;;) {
    if (rolling) break;
    tell('dialling');
    dialled = 'no';
    await Promise.all([dial(), collect()]);
    if (rolling) break;
    tell('closing');
    const { closed, progress, end } = await short.closeRound({ campaignId, round });
    Object.assign(counters, progress);
    if (closed && end !== null) await startNotice({ campaignId, round, end, queues, timeouts });
    if (closed) break;
    log.info('the books cannot be closed yet', { campaignId, round });
  }
  if (!rolling) tell('closed');
  await condition(allHandlersFinished);
  if (isCancelled) await drained;
  if (rolling) await continueAsNew<typeof campaign>({ ...input, submitted: counters.submitted, callersChecked });
  return counters;
}
