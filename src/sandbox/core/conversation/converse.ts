import { Random } from '../random.ts';
import { agentLines, fillerLines, instructions } from '../world/lines.ts';
import { ModelUnavailable, type AgentReply, type BuiltInResponder, type ModelResponder } from './agent-mind.ts';
import { cutTurn, speakingMs, type Speaker, type Talk, type Turn, type TurnUsage } from '../state/talk.ts';
import { asksToStop, saysWrongPerson } from './hearing.ts';

export interface RecipientReply {
  /** Null: silence. */
  text: string | null;
  hangsUp: boolean;
  interrupts: boolean;
  /** Ms from the end of the agent's words (or of the part heard) to their own. */
  pauseMs: number;
  /** Keeps talking after the agent's goodbye, and is listened to. */
  goesOn?: true;
}

/** Who or what picked up. Replies depend on the words heard and own draws, never on time. */
export interface Recipient {
  /** Said before the agent's first word: a machine's message or a greeting. Null: the agent speaks first. */
  readonly announcement: string | null;
  /** Hangs up this long after pick-up, even while someone speaks; null: never. */
  readonly leavesAfterMs: number | null;
  /** A machine records one message and says nothing more. */
  readonly machine: boolean;
  reply(lastText: string, turns: readonly Turn[]): RecipientReply;
}

export interface TalkSetup {
  seed: string;
  conversationId: string;
  answeredAt: number;
  openingLine: string;
  callee: Recipient;
  leastMs: number;
  mostMs: number;
  silenceMs: number;
  silenceLimitMs: number | null;
}

const longestTalkTurns = 200;
/** Silences before the agent hangs up, without a limit in its settings and after the minimum length. */
const usualSilences = 2;
/** Ms to detect the end of the other's words and to start the voice. */
const turnTakingMs = 250;
export const endings = {
  message: 'A message was left.',
  silence: 'Nobody spoke.',
  remote: 'Call ended by remote party',
  tool: 'end_call tool was called.',
  duration: 'Maximum duration reached.',
  lost: 'The connection was lost.',
} as const;

export function converseNow(setup: TalkSetup, responder: BuiltInResponder): Talk {
  const steps = converse(setup);
  let step = steps.next();
  while (step.done !== true) step = steps.next(responder.reply(step.value));
  return step.value;
}

/** Asynchronous; times come from the model's report, not the wall clock. */
export async function converseWithModel(
  setup: TalkSetup,
  responder: ModelResponder,
  onTurns: (turns: readonly Turn[]) => void,
): Promise<Talk> {
  const steps = converse(setup);
  let step = steps.next();
  while (step.done !== true) {
    try {
      onTurns(step.value);
      step = steps.next(await responder.reply(step.value));
    } catch (error) {
      if (!(error instanceof ModelUnavailable)) throw error;
      step = steps.next(error);
    }
  }
  return step.value;
}

function* converse(setup: TalkSetup): Generator<readonly Turn[], Talk, AgentReply | ModelUnavailable> {
  const { callee, answeredAt } = setup;
  const random = new Random(setup.seed, setup.conversationId, 'pauses');
  const turns: Turn[] = [];
  let now = answeredAt;
  const say = (speaker: Speaker, text: string, at: number, more: Partial<Turn> = {}): void => {
    const until = at + speakingMs(text);
    turns.push({ speaker, text, at: Math.round(at), until: Math.round(until), ...more });
    now = until;
  };
  const leaveAt = answeredAt + (callee.leavesAfterMs ?? Infinity);
  const latestEnd = Math.min(leaveAt, answeredAt + setup.mostMs);
  const end = (terminationReason: string, brokeDown = false): Talk => {
    const talk: Talk = { turns, endedAt: Math.round(now + 300), terminationReason, brokeDown };
    // A hang-up at a set time is not delayed by filler.
    const whole = callee.leavesAfterMs === null ? fillTalk(talk, { ...setup, machine: callee.machine }) : talk;
    return cutOff(whole, latestEnd, leaveAt <= latestEnd ? endings.remote : endings.duration);
  };

  if (callee.announcement !== null) say('user', callee.announcement, now + 500);
  say('agent', setup.openingLine, now + 600);
  if (callee.machine) {
    say('agent', agentLines.message, now + 400);
    return end(endings.message);
  }
  let silences = 0;
  let silentFrom = now;
  while (turns.length < longestTalkTurns && now < latestEnd) {
    const last = turns.at(-1);
    const response = callee.reply(last?.text ?? '', turns);
    if (response.text === null) {
      if (response.hangsUp) return end(endings.remote);
      if (silences === 0) silentFrom = now;
      silences += 1;
      now += setup.silenceMs;
      const givesUpAt = silentFrom + (setup.silenceLimitMs ?? Infinity);
      if (now >= givesUpAt) {
        now = givesUpAt;
        return end(endings.silence);
      }
      if (setup.silenceLimitMs === null && silences >= usualSilences && now >= answeredAt + setup.leastMs) {
        say('agent', agentLines.giveUp, now);
        return end(endings.silence);
      }
      say('agent', agentLines.canYouHear, now);
      continue;
    }
    silences = 0;
    if (response.interrupts && last?.speaker === 'agent') {
      const cutAt = Math.round(last.at + (last.until - last.at) * random.between(0.4, 0.8));
      turns[turns.length - 1] = cutTurn(last, cutAt);
      now = cutAt;
    }
    say('user', response.text, now + response.pauseMs);
    if (response.hangsUp) return end(endings.remote);
    if (now >= latestEnd) break;
    const reply = yield turns;
    if (reply instanceof ModelUnavailable) return end(reply.message, true);
    say('agent', reply.text, now + latencyOf(reply.usage, random), usageOf(reply));
    if (!reply.ends) continue;
    const farewell = callee.reply(reply.text, turns);
    if (farewell.text !== null) say('user', farewell.text, now + farewell.pauseMs);
    if (farewell.goesOn !== true) return end(endings.tool);
    if (now >= latestEnd) break;
    const more = yield turns;
    if (more instanceof ModelUnavailable) return end(more.message, true);
    say('agent', more.text, now + latencyOf(more.usage, random), usageOf(more));
  }
  if (now < latestEnd) say('agent', agentLines.timeOver, now + 300);
  return end(endings.duration);
}

function latencyOf(usage: TurnUsage | undefined, random: Random): number {
  return usage === undefined ? random.between(300, 900) : turnTakingMs + usage.latencyMs;
}

function usageOf({ usage, tools }: AgentReply): Partial<Turn> {
  return { ...(usage === undefined ? {} : { usage }), ...(tools === undefined ? {} : { tools }) };
}

export function talkUntil(latestEnd: number, turns: readonly Turn[]): Talk {
  const talk = { turns, endedAt: Infinity, terminationReason: endings.duration, brokeDown: false };
  return cutOff(talk, latestEnd, endings.duration);
}

/** Drops turns after `latestEnd` and cuts the one in progress. */
function cutOff(talk: Talk, latestEnd: number, terminationReason: string): Talk {
  if (talk.endedAt <= latestEnd) return talk;
  const endedAt = Math.round(latestEnd);
  const turns = talk.turns.filter(({ at }) => at < endedAt).map((turn) => cutTurn(turn, endedAt));
  return { ...talk, turns, endedAt, terminationReason, brokeDown: false };
}

interface Filling {
  seed: string;
  conversationId: string;
  answeredAt: number;
  leastMs: number;
  machine: boolean;
}

/** Pads a talk to its minimum length: people talk to themselves, a machine explains itself; later turns shift. */
export function fillTalk(talk: Talk, filling: Filling): Talk {
  const missing = filling.answeredAt + filling.leastMs - talk.endedAt;
  const places = placesIn(talk.turns, filling.machine);
  if (missing <= 0 || places.length === 0) return talk;
  const random = new Random(filling.seed, filling.conversationId, 'asides');
  const lines = filling.machine ? instructions : fillerLines;
  const speaks = lineAfterLine(lines, filling.machine ? 0 : Math.floor(random.between(0, lines.length)));
  const turns: Turn[] = [];
  let shift = 0;
  for (const [index, turn] of talk.turns.entries()) {
    turns.push({ ...turn, at: turn.at + shift, until: turn.until + shift });
    const place = places.indexOf(index);
    if (place === -1) continue;
    const missingHere = (missing * (place + 1)) / places.length - shift;
    if (missingHere <= 0) continue;
    const pauseMs = Math.round(random.between(300, 900));
    const text = speaks(missingHere - pauseMs);
    const at = turn.until + shift + pauseMs;
    turns.push({ speaker: 'user', text, at, until: at + speakingMs(text), aside: true });
    shift += pauseMs + speakingMs(text);
  }
  return { ...talk, turns, endedAt: talk.endedAt + shift };
}

/** After a person's turn and before the agent's; if possible not after an opt-out or wrong-person reply. */
function placesIn(turns: readonly Turn[], machine: boolean): number[] {
  const places = [...turns.keys()].filter((index) => turns[index]?.speaker === 'user' && turns[index + 1]?.speaker === 'agent');
  if (machine) return places.slice(0, 1);
  const calm = places.filter((index) => {
    const text = turns[index]?.text ?? '';
    // A greeting before the agent's first word waits for that word.
    return index > 0 && !asksToStop(text) && !saysWrongPerson(text);
  });
  return calm.length > 0 ? calm : places;
}

/** Joins enough lines to fill the time, continuing where it stopped and wrapping around. */
function lineAfterLine(lines: readonly string[], first: number): (leastMs: number) => string {
  let next = first;
  return (leastMs) => {
    const picked: string[] = [];
    do {
      picked.push(lines[next % lines.length] ?? '');
      next += 1;
    } while (speakingMs(picked.join(' ')) < leastMs);
    return picked.join(' ');
  };
}
