import { ModelUnavailable } from '../core/conversation/agent-mind.ts';
import { ownFailure } from '../http/error-replies.ts';
import { ServiceError } from '../core/service-error.ts';
import { ClientMistake } from './client-messages.ts';
import type { ServerEvents } from './outbox.ts';

export interface Ending {
  reason: string;
  code: number;
  errorType?: string | undefined;
  brokeDown?: boolean;
  at?: number;
}

/** Close codes of gaps A.9: 1008 for what a client must not do, 1002 for a model that fails, 1011 for what is our own fault. */
export function endingFor(error: unknown): Ending {
  if (error instanceof ClientMistake) {
    const { message: reason, kind } = error;
    return { reason, code: 1008, errorType: kind, brokeDown: kind === 'missing_dynamic_variable' };
  }
  if (error instanceof ServiceError) return { reason: error.message, code: 1008, errorType: error.facts.code };
  if (error instanceof ModelUnavailable) {
    const { message: reason } = error;
    const errorType = /^\w+(?=:)/.exec(reason)?.[0] ?? 'custom_llm_error';
    return { reason, code: 1002, errorType, brokeDown: true };
  }
  const { message: reason, facts } = ownFailure(error);
  return { reason, code: 1011, errorType: facts.code, brokeDown: true };
}

/** A close frame has room for 123 bytes. */
export function closeReason({ reason, errorType }: Ending): string {
  const text = errorType ?? reason;
  return Buffer.from(text)
    .subarray(0, 120)
    .toString()
    .replace(/\uFFFD$/, '');
}

export function errorOf(ending: Ending): ServerEvents['error'] {
  const errorType = closeReason(ending);
  return { code: ending.code, error_type: errorType, message: ending.reason, reason: errorType };
}
