/** Why a conversation over a socket cannot go on (gaps A.9: codes of `error` events and close frames). */
export type MistakeKind =
  | 'invalid_message'
  | 'missing_fields'
  | 'unknown_message_type'
  | 'override_error'
  | 'missing_dynamic_variable'
  | 'rate_limit_exceeded'
  | 'concurrency_limit_exceeded'
  | 'agent_not_found';

/** Thrown when a client sends what cannot be accepted: the connection closes with 1008. The message never holds a value of a secret. */
export class ClientMistake extends Error {
  override readonly name = 'ClientMistake' as const;
  readonly kind: MistakeKind;

  constructor(kind: MistakeKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
