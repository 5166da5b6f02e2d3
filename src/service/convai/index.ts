/** Public API of `carillon/convai`. Anything not exported here may change without notice. */
export {
  createConvaiClient,
  type BatchPlaced,
  type ConvaiClient,
  type ConversationPage,
  type ListOptions,
  type PlaceBatchOptions,
} from './client.ts';
export type { ConvaiClientOptions } from './connection.ts';
export type { ClockReading, ServiceDate, ServiceReadings } from '../port/service-clock.ts';
export type { RequestInfo } from '../http/transport.ts';
export { parseBaseUrl, type BaseUrl } from '../port/address.ts';
export {
  BadResponseError,
  ServiceError as ConvaiError,
  ServiceOptionsError as ConvaiOptionsError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RefusedError,
  RequestInvalidError,
  type ExchangePhase,
  type Knowledge,
  type RefusalDetail,
} from '../port/errors.ts';
export { parseServiceTime } from '../port/record-values.ts';
export type {
  AssignPhoneNumberRequest,
  BatchCall,
  BatchCallsRequest,
  ConversationConfigOverride,
  CreateAgentRequest,
  ImportPhoneNumberRequest,
  UpdateAgentRequest,
} from './schemas.ts';
export type {
  Agent,
  AgentCreated,
  AgentSummary,
  ConversationEntry,
  ConversationRecord,
  PhoneNumber,
  PhoneNumberImported,
  UpdatedPhoneNumber,
} from './schemas.ts';
