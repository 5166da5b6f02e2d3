/** Why there is no batch to submit now. */
export type WaitReason =
  | 'scheduled'
  | 'due'
  | 'capacity'
  | 'share'
  | 'pacing'
  | 'blocked'
  | 'canary'
  | 'words'
  | 'goal'
  | 'pilot'
  | 'caller_limit'
  | 'paused'
  | 'collecting'
  | 'rows';

/** Result of planning the next batch of a round. */
export type Planned =
  | { kind: 'batch'; batchId: string; size: number }
  | {
      kind: 'wait';
      reason: WaitReason;
      /** Real ms until planning is worth repeating; null: only after a change. */
      inMs: number | null;
      /** Whether calls are open, or anything else is left to collect. */
      outstanding: boolean;
      /** Only callbacks are left; absent: other recipients, too. */
      onlyPromises?: true;
    }
  | { kind: 'done' };

/** Next action of the dial loop. */
export type NextStep =
  | { kind: 'dial'; batchId: string; size: number }
  /** Plan again after `forMs` (real; null: no timer) or after any change. */
  | { kind: 'wait'; reason: WaitReason; outstanding: boolean; forMs: number | null; onlyPromises: boolean }
  | { kind: 'done' };

/** What triggers planning while calls are open: the clock, or the collector, which sees calls end and recipients fall due. */
const wokenBy: Readonly<Record<WaitReason, 'clock' | 'collector'>> = {
  blocked: 'clock',
  pacing: 'clock',
  paused: 'clock',
  scheduled: 'clock',
  due: 'collector',
  capacity: 'collector',
  share: 'collector',
  canary: 'collector',
  words: 'collector',
  goal: 'collector',
  pilot: 'collector',
  caller_limit: 'clock',
  collecting: 'collector',
  rows: 'clock',
};

/** Decides after planning. With nothing outstanding no collector runs, so only the clock can wake. */
export function nextStep(planned: Planned): NextStep {
  switch (planned.kind) {
    case 'batch':
      return { kind: 'dial', batchId: planned.batchId, size: planned.size };
    case 'done':
      return { kind: 'done' };
    case 'wait': {
      const collectorWakes = planned.outstanding && wokenBy[planned.reason] === 'collector';
      const { reason, outstanding, onlyPromises = false } = planned;
      return { kind: 'wait', reason, outstanding, forMs: collectorWakes ? null : planned.inMs, onlyPromises };
    }
  }
}
