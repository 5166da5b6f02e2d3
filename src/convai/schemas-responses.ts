import { z } from 'zod';

// Tolerant: unknown fields are kept, missing optional ones are fine, documented ones must have their documented type.

const id = z.string().min(1);
const someObject = z.looseObject({});

export const agentCreated = z.looseObject({ agent_id: id });
export type AgentCreated = z.infer<typeof agentCreated>;

export const agentSummary = z.looseObject({
  agent_id: id,
  name: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
});
export type AgentSummary = z.infer<typeof agentSummary>;

export const agent = z.looseObject({
  agent_id: id.nullish(),
  name: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  conversation_config: someObject.nullish(),
});
export type Agent = z.infer<typeof agent>;

export const conversationRecord = z.looseObject({
  conversation_id: id.nullish(),
  transcript: z.array(someObject).nullish(),
  audio: z.string().nullish(),
  metadata: someObject.nullish(),
  evaluation_results: someObject.nullish(),
  collected_data: someObject.nullish(),
});
/** The documented read names no `conversation_id`; the client adds the one that was asked for when it is missing. */
export type ConversationRecord = z.infer<typeof conversationRecord> & { conversation_id: string };

export const conversationEntry = z.looseObject({ conversation_id: id, metadata: someObject.nullish() });
export type ConversationEntry = z.infer<typeof conversationEntry>;

export const signedUrl = z.looseObject({
  signed_url: z.string().regex(/^wss?:\/\/[\x21-\x7e]+$/, 'must be a WebSocket address'),
});

export const conversationToken = z.looseObject({
  token: z.string().regex(/^[\x21-\x7e]+$/, 'must be text that a header or address can carry'),
});

export const phoneNumber = z.looseObject({
  phone_number_id: id,
  phone_number: z.string().nullish(),
  label: z.string().nullish(),
  agent_id: z.string().nullish(),
});
export type PhoneNumber = z.infer<typeof phoneNumber>;

export const updatedPhoneNumber = phoneNumber.extend({ phone_number_id: id.nullish() });
export type UpdatedPhoneNumber = z.infer<typeof updatedPhoneNumber>;

export const phoneNumberImported = z.looseObject({ phone_number_id: id });
export type PhoneNumberImported = z.infer<typeof phoneNumberImported>;

export const batchCallsPlaced = z.looseObject({ batch_id: id, calls_initiated: z.int().min(0) });
