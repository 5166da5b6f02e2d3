import { Context } from '@temporalio/activity';
import { startPulse } from './pulse.ts';

/** What the Temporal server keeps of a submit beyond the life of its process, and of a database that is set back. */
export interface Witness {
  /** Number of the POST that an earlier try of this submit was about to make; 0: of none. */
  readonly earlier: number;
  /** Says that POST `k` is about to be made. The server has it when the promise resolves; rejects where that is not certain. */
  note(k: number): Promise<void>;
  /** A step was got done. Sends one of the worker's own heartbeats: for a long wait after which this try makes no POST. */
  beat(): void;
  /** No heartbeat is sent from here on. */
  close(): void;
}

/** A POST whose beginning the server does not take down for this long is not begun. */
const limitMs = 5_000;

/**
 * Heartbeats for the activity under way, until it is closed. The worker's own heartbeats are sent later and are not acknowledged: one that
 * is still under way could take back what was noted after it. So before the note there are only awaited ones, each after the one before, by
 * the worker's own client, which writes them as the worker reads them. A POST under way has no steps: `longestStepMs` is its own limit,
 * posting window and HTTP timeouts together, and a submit that gets nowhere for longer is heard of no more.
 */
export function openWitness(everyMs: number, longestStepMs: number): Witness {
  const context = Context.current();
  const { client, info } = context;
  const earlier = (info.heartbeatDetails as { posting?: number } | undefined)?.posting ?? 0;
  let details = { posting: earlier };
  let noted = false;
  let sent = Promise.resolve();
  const sendNext = () => {
    // After one that failed, and may still arrive, nothing is certain any more.
    sent = sent.then(() =>
      client.withDeadline(Date.now() + limitMs, () => client.activity.heartbeat(info.taskToken, details)),
    );
    sent.catch(() => {});
    return sent;
  };
  const beat = () => (noted ? context.heartbeat(details) : void sendNext());
  const pulse = startPulse(beat, { everyMs, longestStepMs });
  return {
    earlier,
    note: async (k) => {
      pulse.step();
      details = { posting: k };
      await sendNext();
      noted = true;
      // The worker gives up an activity that it hears nothing of, and reports a failure with the details that it has heard last.
      context.heartbeat(details);
    },
    beat: () => {
      pulse.step();
      context.heartbeat({ posting: earlier });
    },
    close: pulse.stop,
  };
}
