/** The public surface of `carillon/convai`: a client of the service. What is not named here may change without notice. */
export {
  createConvaiClient,
  type BatchPlaced,
  type ConvaiClient,
  type ConvaiClientOptions,
  type ConversationPage,
  type ListOptions,
  type PlaceBatchOptions,
  type ServiceDate,
} from './client.ts';
export type { ClockReading, ServiceReadings } from './clock-readings.ts';
export type { RequestInfo } from './transport.ts';
export { parseBaseUrl, type BaseUrl } from './base-url.ts';
export {
  BadResponseError,
  ConvaiError,
  ConvaiOptionsError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RefusedError,
  RequestInvalidError,
  type ExchangePhase,
  type Knowledge,
} from './errors.ts';
export type { RefusalDetail } from './refusal-detail.ts';
export { parseServiceTime } from './service-time.ts';
export type {
  AssignPhoneNumberRequest,
  BatchCall,
  BatchCallsRequest,
  ConversationConfigOverride,
  CreateAgentRequest,
  ImportPhoneNumberRequest,
  UpdateAgentRequest,
} from './schemas-requests.ts';
export type {
  Agent,
  AgentCreated,
  AgentSummary,
  ConversationEntry,
  ConversationRecord,
  PhoneNumber,
  PhoneNumberImported,
  UpdatedPhoneNumber,
} from './schemas-responses.ts';
