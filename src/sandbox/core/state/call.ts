import type { Talk } from './talk.ts';
import type { Agent } from './agent.ts';
import type { ConversationConfig } from '../../schemas/agent-schemas.ts';
import type { CallVariables, CampaignOfCall } from '../../schemas/request-schemas.ts';
import type { Person } from '../world/person.ts';
import type { AnalysisScript } from '../world/schema.ts';

/** Besides the words. Immutable. Times: epoch ms of service time. */
export interface SocketFacts {
  readonly authorizationMethod: 'signed_url' | 'livekit_token';
  readonly textOnly: boolean;
  readonly sourceInfo: Readonly<Record<string, unknown>> | null;
  readonly contextualUpdates: readonly { readonly at: number; readonly text: string; readonly contextId: string | null }[];
  readonly feedback: readonly { readonly at: number; readonly eventId: number | null; readonly score: 'like' | 'dislike' }[];
}

export const callResults = ['answered', 'voicemail', 'busy', 'no_answer', 'failed'] as const;
export type CallResult = (typeof callResults)[number];

/** Decided at dial time, except the end of a talk still held. Times: epoch ms of service time. */
export interface CallCourse {
  result: CallResult;
  /** Pick-up time; null when unanswered. */
  answeredAt: number | null;
  /** Infinity while the end is unknown: the agent's words come from elsewhere. */
  endedAt: number;
  /** Infinity also when the analysis never comes. */
  analysedAt: number;
  analysisMs: number;
  leastTalkMs: number;
  silent: boolean;
  optedOut: boolean;
  cooperative: boolean;
  /** Who picked up, if more is known than the three fields above. */
  person?: Person;
  analysis?: AnalysisScript | undefined;
  backupModelId?: string;
  brokeDown: boolean;
  /** Why it broke down, if not by the service's own failure. */
  errorCode?: number;
  terminationReason: string;
}

export interface ForcedCourse {
  readonly result: CallResult;
  readonly silent: boolean;
  readonly optsOut: boolean;
  /** Minimum talk length; default: drawn. */
  readonly talkSeconds?: number | undefined;
  readonly analysis?: AnalysisScript | undefined;
}

export type Channel = 'phone' | 'websocket' | 'webrtc';

/** What happens later is a function of its course and the time. */
export interface Call {
  readonly callId: string;
  readonly conversationId: string;
  readonly direction: 'outbound' | 'inbound';
  /** How the other party is connected; default `phone`. */
  readonly channel?: Channel;
  readonly batchId: string | null;
  readonly recipientId?: string | undefined;
  readonly campaign?: CampaignOfCall | undefined;
  /** Most simultaneous calls of its batch; default: all lines. */
  readonly batchLines?: number | undefined;
  /** Dialled within the share of lines for batches without their own limit. */
  readonly byShare?: boolean | undefined;
  /** Gives up after ringing this long. */
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
  /** Other client data of an upstream batch's recipient: shown, without effect. */
  readonly clientData?: Readonly<Record<string, unknown>> | undefined;
  readonly acceptedAt: number;
  readonly realAcceptedAt: number;
  readonly hiddenForMs: number;
  dialedAt: number | null;
  /** The agent at dial time; null when it no longer existed. */
  agent: Agent | null;
  agentNumber: string | null;
  openingLine: string | null;
  course: CallCourse | null;
  /** Earliest dial time, epoch ms. */
  notBefore?: number | undefined;
  forced?: ForcedCourse | undefined;
  /** What was said, when a model elsewhere or a person at a socket took part. */
  live: Talk | null;
  socket?: SocketFacts | undefined;
  /** When its conversation record was made; null before, or if there is none. */
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

/** Its state will change without a request; an analysis that never comes does not count. */
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

/** `redirected`: it got another course. */
export type CallChange = 'queued' | 'dialed' | 'answered' | 'ended' | 'analysed' | 'redirected';

/** Called at the service time of each change, in order. */
export type CallListener = (call: Call, change: CallChange, at: number) => void;

/** Answered, a word was said, and over by `now`. */
export function isRecorded(course: CallCourse, talk: Talk, now: number): boolean {
  return course.answeredAt !== null && now >= course.endedAt && talk.turns.length > 0;
}

export function recipientIdOf({ batchId, recipientId, callId }: Call): string | null {
  return batchId === null ? null : (recipientId ?? callId);
}
