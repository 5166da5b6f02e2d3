import type { ConversationFacts } from './conversation-facts.ts';

/** Result of one attempt. `unreached`: not answered, cause not visible. `unknown`: cannot tell whether it was placed. */
export const dispositions = [
  'answered',
  'voicemail',
  'busy',
  'no_answer',
  'unreached',
  'failed',
  'invalid_number',
  'opted_out',
  'unknown',
] as const;
export type Disposition = (typeof dispositions)[number];

export interface AttemptResult {
  disposition: Disposition;
  /** `silent`: the line was answered but only the agent spoke. */
  detail: string | null;
  /** Whether the attempt uses up the budget. False only with proof that nobody picked up (a carrier result). */
  counted: boolean;
}

export type { ConversationFacts };
