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

/** What planning said of the next batch of a round. */
export type Planned =
  | { kind: 'batch'; batchId: string; size: number }
  | {
      kind: 'wait';
      reason: WaitReason;
      /** Real milliseconds until planning is worth another look by itself; null: only a change helps. */
      inMs: number | null;
      /** Whether calls are open, or anything else is left to collect. */
      outstanding: boolean;
      /** Nobody is left but whom the campaign is to call back; absent: somebody is. */
      onlyPromises?: true;
    }
  | { kind: 'done' };

/** What the dial loop does next. */
export type NextStep =
  | { kind: 'dial'; batchId: string; size: number }
  /** Plan again after `forMs` (real), or after a change when it is null; a change ends the wait in either case. */
  | { kind: 'wait'; reason: WaitReason; outstanding: boolean; forMs: number | null; onlyPromises: boolean }
  | { kind: 'done' };

/** Who says when planning makes sense again while calls are open: the clock, or the collector, which sees calls end and people fall due. */
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

/** The decision after planning. Where nothing is outstanding, no collector runs, and the clock alone can wake. */
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
