import type { Agent } from '../state/agent.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';
import type { CallVariables } from '../schemas/request-schemas.ts';

export type CallResult = 'answered' | 'voicemail' | 'busy' | 'no_answer' | 'failed';

/** How a dialled call goes, decided when it is dialled. Times are epoch milliseconds of service time. */
export interface CallCourse {
  result: CallResult;
  /** When somebody or something picked up; null when nobody did. */
  answeredAt: number | null;
  endedAt: number;
  /** When evaluation and collected values are there. */
  analysedAt: number;
  /** Only the agent spoke. */
  silent: boolean;
  optedOut: boolean;
  cooperative: boolean;
  /** Picked up, but the conversation broke down before a word was said. */
  brokeDown: boolean;
  terminationReason: string;
}

/** One call, outbound from a batch or inbound. What happens to it later is a function of its course and the time. */
export interface Call {
  readonly callId: string;
  readonly conversationId: string;
  readonly direction: 'outbound' | 'inbound';
  readonly batchId: string | null;
  readonly requestId: string | null;
  readonly agentId: string;
  readonly phoneNumberId: string;
  /** Number of the other party. */
  readonly to: string;
  /** Which dial of that number this is, from 1. */
  readonly nth: number;
  readonly variables: CallVariables;
  readonly override: ConversationConfig | undefined;
  readonly acceptedAt: number;
  readonly realAcceptedAt: number;
  /** How long its record stays out of the list after it was made. */
  readonly hiddenForMs: number;
  dialedAt: number | null;
  /** The agent as it was when the call was dialled; null when it no longer existed. */
  agent: Agent | null;
  agentNumber: string | null;
  openingLine: string | null;
  course: CallCourse | null;
  /** When its conversation record was made; null while or where there is none. */
  recordedAt: number | null;
  recordDeleted: boolean;
}

export type CallState = 'queued' | 'dialing' | 'in_progress' | 'processing' | 'done' | 'failed';

export function stateOf(call: Call, now: number): CallState {
  const { course } = call;
  if (course === null) return 'queued';
  if (now < (course.answeredAt ?? course.endedAt)) return 'dialing';
  if (now < course.endedAt) return 'in_progress';
  if (now < course.analysedAt) return 'processing';
  return course.answeredAt === null || course.brokeDown ? 'failed' : 'done';
}

export function isOpen(call: Call, now: number): boolean {
  return call.course === null || now < call.course.endedAt;
}

export function isListed(call: Call, now: number): boolean {
  return call.recordedAt !== null && !call.recordDeleted && now >= call.recordedAt + call.hiddenForMs;
}
