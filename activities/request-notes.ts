import { Context } from '@temporalio/activity';
import { startHeartbeat } from './heartbeat.ts';

/** One POST of a batch. */
export interface NotedPost {
  batchId: string;
  /** Its number among the POSTs of the batch, from 1. */
  k: number;
}

/** What the Temporal server keeps of a submit beyond the life of its process, and of a database that is set back. */
export interface RequestNotes {
  /** The last POST that this submit was about to make, in this try or in an earlier one; null: none so far. */
  readonly last: NotedPost | null;
  /** Whether another batch may follow: only in the first moments of a try, while none of the worker's own heartbeats is under way. */
  readonly mayGoOn: boolean;
  /** Says that a POST is about to be made. The server has it when the promise resolves; rejects where that is not certain. */
  note(post: NotedPost): Promise<void>;
  /** The POST that was noted is over. */
  answered(): void;
  /** A step was got done. Sends one of the worker's own heartbeats: for a long wait after which this try makes no POST. */
  beat(): void;
  /** No heartbeat is sent from here on. */
  close(): void;
}

/** A POST whose beginning the server does not take down for this long is not begun. */
const limitMs = 5_000;

/**
 * Heartbeats for the activity under way, until it is closed. The worker's own heartbeats are sent later and are not acknowledged: one that
 * is still under way could take back what was noted after it. So there are only awaited ones, each after the one before, by the worker's
 * own client, which writes them as the worker reads them; its own are sent while a POST takes long, and no batch follows that one. A POST
 * under way has no steps: `longestStepMs` is its own limit, posting window and HTTP timeouts together, and a submit that gets nowhere for
 * longer is heard of no more.
 */
export function openRequestNotes(everyMs: number, longestStepMs: number): RequestNotes {
  const context = Context.current();
  const { client, info } = context;
  let last = (info.heartbeatDetails as NotedPost | undefined) ?? null;
  let mayGoOn = true;
  let isPosting = false;
  let sent = Promise.resolve();
  const sendNext = () => {
    const details = last;
    // After one that failed, and may still arrive, nothing is certain any more.
    sent = sent.then(() => client.withDeadline(Date.now() + limitMs, () => client.activity.heartbeat(info.taskToken, details)));
    sent.catch(() => {});
    return sent;
  };
  const beat = () => {
    mayGoOn = false;
    if (isPosting) context.heartbeat(last);
    else void sendNext();
  };
  const heartbeat = startHeartbeat(beat, { everyMs, longestStepMs });
  return {
    get last() {
      return last;
    },
    get mayGoOn() {
      return mayGoOn;
    },
    note: async (post) => {
      heartbeat.step();
      last = post;
      await sendNext();
      isPosting = true;
      // The worker gives up an activity that it hears nothing of for long, and reports a failure with the details that it has heard last.
      if (!mayGoOn) context.heartbeat(last);
    },
    answered: () => {
      heartbeat.step();
      isPosting = false;
    },
    beat: () => {
      heartbeat.step();
      mayGoOn = false;
      context.heartbeat(last);
    },
    close: heartbeat.stop,
  };
}
