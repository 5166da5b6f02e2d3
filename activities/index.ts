import { LedgerOlderError } from '../src/ledger/ledger-older.ts';
import { failCampaign } from '../src/ledger/rows/campaigns.ts';
import { changeState } from './change-state.ts';
import { checkCallers } from './check-callers.ts';
import { closeRound } from './close-round.ts';
import { collect } from './collect.ts';
import { deliver } from './deliver.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { toFailure } from './failures.ts';
import { fireSchedule, noteFiringFailure } from './fire-schedule.ts';
import { noteUndelivered, notify, notifyPause } from './notify.ts';
import { plan } from './plan.ts';
import { recordPostVerdict, submit } from './submit.ts';

type Activity<Input, Result> = (deps: ActivityDependencies, input: Input) => Promise<Result>;

/** A campaign's side effects. Inputs, results and failures hold ids, counts and codes only. */
export function createActivities(deps: ActivityDependencies) {
  const bind =
    <Input, Result>(activity: Activity<Input, Result>, awayRetryMs?: number | null) =>
    async (input: Input): Promise<Result> => {
      try {
        return await activity(deps, input).catch((error: unknown) => endRunIfOlder(deps, error));
      } catch (error) {
        throw await toFailure(error, deps, awayRetryMs);
      }
    };
  return {
    checkCallers: bind(checkCallers),
    plan: bind(plan),
    submit: bind(submit),
    recordPostVerdict: bind(recordPostVerdict),
    collect: bind(collect),
    changeState: bind(changeState),
    closeRound: bind(closeRound),
    notify: bind(notify),
    notifyPause: bind(notifyPause),
    noteUndelivered: bind(noteUndelivered),
    // Its tries are limited: the database's absence must not use them up.
    fireSchedule: bind(fireSchedule, null),
    noteFiringFailure: bind(noteFiringFailure),
    deliver: bind(deliver),
  };
}

/** When the ledger has lost data of a campaign, ends its run and records why. */
async function endRunIfOlder(deps: ActivityDependencies, error: unknown): Promise<never> {
  if (error instanceof LedgerOlderError) {
    const at = { campaignId: error.lost.campaignId, now: deps.nowReal() };
    await failCampaign(deps.store, at, error.message);
  }
  throw error;
}

export type Activities = ReturnType<typeof createActivities>;
