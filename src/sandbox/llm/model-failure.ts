export type ModelFailureCode =
  | 'address_refused'
  | 'header_refused'
  | 'not_reached'
  | 'http_status'
  | 'redirect'
  | 'timeout'
  | 'too_large'
  | 'malformed'
  | 'model_error'
  | 'cut_off'
  | 'empty'
  | 'stopped';

/**
 * Thrown when a model behind an address gave nothing that an agent could say. The message names what is known and holds nothing
 * that the model or its address said: either may echo a credential.
 */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure' as const;
  readonly code: ModelFailureCode;

  constructor(code: ModelFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
