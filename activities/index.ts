import type { VerdictInput } from '../src/ledger/dial/posts.ts';
import { changeState, type ChangeStateInput } from './change-state.ts';
import { checkCallers } from './check-callers.ts';
import { closeRound } from './close-round.ts';
import { collect } from './collect.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { fireSchedule, noteFiringFailure, type FireScheduleInput } from './fire-schedule.ts';
import {
  noteUndelivered,
  notify,
  notifyPause,
  type NotifyInput,
  type NotifyPauseInput,
  type UndeliveredInput,
} from './notify.ts';
import { plan, type PlanActivityInput } from './plan.ts';
import { recordPostVerdict, submit } from './submit.ts';

/** The side effects of a campaign, bound to what they work with. Their inputs and results hold ids, counts and codes only. */
export function createActivities(deps: ActivityDependencies) {
  return {
    checkCallers: (input: { campaignId: string }) => checkCallers(deps, input),
    plan: (input: PlanActivityInput) => plan(deps, input),
    submit: (input: { batchId: string }) => submit(deps, input),
    recordPostVerdict: (verdict: VerdictInput) => recordPostVerdict(deps, verdict),
    collect: (input: { campaignId: string }) => collect(deps, input),
    changeState: (input: ChangeStateInput) => changeState(deps, input),
    closeRound: (input: { campaignId: string; round: number }) => closeRound(deps, input),
    notify: (input: NotifyInput) => notify(deps, input),
    notifyPause: (input: NotifyPauseInput) => notifyPause(deps, input),
    noteUndelivered: (input: UndeliveredInput) => noteUndelivered(deps, input),
    fireSchedule: (input: FireScheduleInput) => fireSchedule(deps, input),
    noteFiringFailure: (input: FireScheduleInput & { reason: string }) => noteFiringFailure(deps, input),
  };
}

export type Activities = ReturnType<typeof createActivities>;
