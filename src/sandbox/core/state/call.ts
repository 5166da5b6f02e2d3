import type { Talk } from './talk.ts';
import type { Agent } from './agent.ts';
import type { ConversationConfig } from '../../schemas/agent-schemas.ts';
import type { CallVariables, CampaignOfCall } from '../../schemas/request-schemas.ts';
import type { Person } from '../world/person.ts';
import type { AnalysisScript } from '../world/schema.ts';

/** What is kept of a conversation over a socket beside what was said. Never changed in place. Times: epoch milliseconds of service time. */
export interface SocketFacts {
  readonly authorizationMethod: 'signed_url' | 'livekit_token';
  readonly textOnly: boolean;
  readonly sourceInfo: Readonly<Record<string, unknown>> | null;
  readonly contextualUpdates: readonly { readonly at: number; readonly text: string; readonly contextId: string | null }[];
  readonly feedback: readonly { readonly at: number; readonly eventId: number | null; readonly score: 'like' | 'dislike' }[];
}

export const callResults = ['answered', 'voicemail', 'busy', 'no_answer', 'failed'] as const;
export type CallResult = (typeof callResults)[number];

/** How a dialled call goes, decided when it is dialled but for the end of a talk still held. Times: epoch milliseconds of service time. */
export interface CallCourse {
  result: CallResult;
  /** When somebody or something picked up; null when nobody did. */
  answeredAt: number | null;
  /** Infinity while the end cannot be known: the agent's words come from elsewhere. */
  endedAt: number;
  /** Infinity also where the analysis never comes. */
  analysedAt: number;
  analysisMs: number;
  leastTalkMs: number;
  silent: boolean;
  optedOut: boolean;
  cooperative: boolean;
  /** Who picked up, where more is known of them than the three lines above. */
  person?: Person;
  analysis?: AnalysisScript | undefined;
  backupModelId?: string;
  brokeDown: boolean;
  /** Why it broke down, where that is not the service's own failure. */
  errorCode?: number;
  terminationReason: string;
}

export interface ForcedCourse {
  readonly result: CallResult;
  readonly silent: boolean;
  readonly optsOut: boolean;
  /** The talk lasts at least this long; drawn when left out. */
  readonly talkSeconds?: number | undefined;
  readonly analysis?: AnalysisScript | undefined;
}

export type Channel = 'phone' | 'websocket' | 'webrtc';

/** One call, outbound from a batch or inbound. What happens to it later is a function of its course and the time. */
export interface Call {
  readonly callId: string;
  readonly conversationId: string;
  readonly direction: 'outbound' | 'inbound';
  /** Over what the other party is heard; `phone` when left out. */
  readonly channel?: Channel;
  readonly batchId: string | null;
  readonly recipientId?: string | undefined;
  readonly campaign?: CampaignOfCall | undefined;
  /** So many calls of its batch are on the line at once; as many as there are lines when left out. */
  readonly batchLines?: number | undefined;
  /** It is dialled within the share of lines that batches without a limit have. */
  readonly byShare?: boolean | undefined;
  /** It is given up when it has rung for so long. */
  readonly ringLimitMs?: number | undefined;
  readonly requestId: string | null;
  readonly agentId: string;
  readonly phoneNumberId: string;
  readonly to: string;
  readonly nth: number;
  readonly variables: CallVariables;
  readonly override: ConversationConfig | undefined;
  readonly userId?: string | undefined;
  readonly modelExtraBody?: Record<string, unknown> | undefined;
  /** What else of the conversation a batch in upstream's form said of a recipient. It is shown, and changes nothing. */
  readonly clientData?: Readonly<Record<string, unknown>> | undefined;
  readonly acceptedAt: number;
  readonly realAcceptedAt: number;
  readonly hiddenForMs: number;
  dialedAt: number | null;
  /** The agent as it was when the call was dialled; null when it no longer existed. */
  agent: Agent | null;
  agentNumber: string | null;
  openingLine: string | null;
  course: CallCourse | null;
  /** It is not dialled before; epoch milliseconds. */
  notBefore?: number | undefined;
  forced?: ForcedCourse | undefined;
  /** What was said, where it is not a function of the call: a model elsewhere or a person at a socket had part in it. */
  live: Talk | null;
  socket?: SocketFacts | undefined;
  /** When its conversation record was made; null while or where there is none. */
  recordedAt: number | null;
  recordDeleted: boolean;
}

export function newCall(
  facts: Pick<Call, 'callId' | 'conversationId' | 'agentId' | 'phoneNumberId' | 'to' | 'nth' | 'acceptedAt' | 'realAcceptedAt'> &
    Partial<Call>,
): Call {
  return {
    direction: 'outbound',
    batchId: null,
    requestId: null,
    variables: {},
    override: undefined,
    hiddenForMs: 0,
    dialedAt: null,
    agent: null,
    agentNumber: null,
    openingLine: null,
    course: null,
    live: null,
    recordedAt: null,
    recordDeleted: false,
    ...facts,
  };
}

export function openCourse(answeredAt: number, facts: Pick<CallCourse, 'analysisMs' | 'cooperative'> & Partial<CallCourse>): CallCourse {
  return {
    result: 'answered',
    answeredAt,
    endedAt: Infinity,
    analysedAt: Infinity,
    leastTalkMs: 0,
    silent: false,
    optedOut: false,
    brokeDown: false,
    terminationReason: '',
    ...facts,
  };
}

export const callStates = ['queued', 'dialing', 'in_progress', 'processing', 'done', 'failed'] as const;
export type CallState = (typeof callStates)[number];

export function stateOf(call: Call, now: number): CallState {
  const { course } = call;
  if (course === null) return 'queued';
  if (now < (course.answeredAt ?? course.endedAt)) return 'dialing';
  if (now < course.endedAt) return 'in_progress';
  if (now < course.analysedAt) return 'processing';
  return course.answeredAt === null || course.brokeDown ? 'failed' : 'done';
}

/** Whether its state will change without a request: an analysis that never comes does not keep the sandbox from being idle. */
export function isUnderWay(call: Call, now: number): boolean {
  const state = stateOf(call, now);
  return state === 'processing' ? call.course?.analysedAt !== Infinity : state !== 'done' && state !== 'failed';
}

export function countStates(calls: Iterable<Call>, now: number): Record<CallState, number> {
  const counts = { queued: 0, dialing: 0, in_progress: 0, processing: 0, done: 0, failed: 0 };
  for (const call of calls) counts[stateOf(call, now)] += 1;
  return counts;
}

export function waitsFrom({ acceptedAt, notBefore = 0 }: Call): number {
  return Math.max(acceptedAt, notBefore);
}

export function isOpen(call: Call, now: number): boolean {
  return call.course === null || now < call.course.endedAt;
}

export function isListed(call: Call, now: number): boolean {
  return call.recordedAt !== null && !call.recordDeleted && now >= call.recordedAt + call.hiddenForMs;
}

/** `redirected`: it was given another course than its own. */
export type CallChange = 'queued' | 'dialed' | 'answered' | 'ended' | 'analysed' | 'redirected';

/** Told at the instant of service time at which it happened, in the order in which things happened. */
export type CallListener = (call: Call, change: CallChange, at: number) => void;

/** Whether a call has left a recording by `now`: somebody or something picked up, a word was said, and it is over. */
export function isRecorded(course: CallCourse, talk: Talk, now: number): boolean {
  return course.answeredAt !== null && now >= course.endedAt && talk.turns.length > 0;
}

export function recipientIdOf({ batchId, recipientId, callId }: Call): string | null {
  return batchId === null ? null : (recipientId ?? callId);
}
