import { Context } from '@temporalio/activity';
import { startHeartbeat } from './heartbeat.ts';

export interface NotedPost {
  batchId: string;
  /** From 1 in each batch. */
  k: number;
}

/** What Temporal's server remembers of a submit, even if its process dies or the database is set back. */
export interface RequestNotes {
  /** The last POST about to be made in this or an earlier try; null: none. */
  readonly last: NotedPost | null;
  /** Whether another batch may follow: only early in a try, while none of the worker's own heartbeats is under way. */
  readonly mayGoOn: boolean;
  /** Records that a POST is about to be made. Resolves once the server has it; rejects where that is not certain. */
  note(post: NotedPost): Promise<void>;
  /** Ends the noted POST. */
  answered(): void;
  /** Reports a step by the worker's own heartbeat: for a long wait after which this try makes no POST. */
  beat(): void;
  close(): void;
}

/** Maximum wait for the server to record a POST; beyond it the POST is not made. */
const limitMs = 5_000;

/**
 * Heartbeats of the current activity, until closed. The worker's own are sent later and unacknowledged: one under way could overwrite a
 * newer note. So notes are awaited heartbeats, in order, by the worker's own client, in the encoding that the worker reads; the worker's
 * own are sent only during a long POST, after which no batch follows. A POST has no steps: `longestStepMs` covers it, posting window plus
 * HTTP timeouts, and a submit stuck for longer stops beating.
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
    // One that failed may still arrive, so all later ones fail too.
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
      // Otherwise the worker gives up a silent activity and fails it with the details it last received.
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
