import { z } from 'zod';

// Tolerant: unknown fields are kept, missing optional ones are fine, documented ones must have their documented type.

const id = z.string().min(1);
const someObject = z.looseObject({});

/** Answer of operation 1. */
export const agentCreated = z.looseObject({ agent_id: id });
/** Answer of operation 1: the id of the new agent. */
export type AgentCreated = z.infer<typeof agentCreated>;

/** One entry of operation 2. */
export const agentSummary = z.looseObject({
  agent_id: id,
  name: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
});
/** An agent as lists show it (operation 2); fields beyond the contract are kept. */
export type AgentSummary = z.infer<typeof agentSummary>;

/** Answer of operations 3 and 4. The contract does not promise that it repeats `agent_id`. */
export const agent = agentSummary.extend({ agent_id: id.nullish(), conversation_config: someObject.nullish() });
/** An agent with its settings (operations 3 and 4). */
export type Agent = z.infer<typeof agent>;

/** Answer of operation 6, as the service sends it. */
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

/** One entry of operation 7. */
export const conversationEntry = z.looseObject({ conversation_id: id, metadata: someObject.nullish() });
/** A conversation as lists show it (operation 7); `metadata` may hold `start_time`. */
export type ConversationEntry = z.infer<typeof conversationEntry>;

/** Answer of operation 9. The address is a credential. */
export const signedUrl = z.looseObject({
  signed_url: z.string().regex(/^wss?:\/\/[\x21-\x7e]+$/, 'must be a WebSocket address'),
});

/** Answer of operation 10. The token is a credential. */
export const conversationToken = z.looseObject({
  token: z.string().regex(/^[\x21-\x7e]+$/, 'must be text that a header or address can carry'),
});

/** One entry of operation 11. */
export const phoneNumber = z.looseObject({
  phone_number_id: id,
  phone_number: z.string().nullish(),
  label: z.string().nullish(),
  agent_id: z.string().nullish(),
});
/** An imported number (operation 11). `agent_id` is null or missing while no agent answers it. */
export type PhoneNumber = z.infer<typeof phoneNumber>;

/** Answer of operation 13. The contract does not promise that it repeats `phone_number_id`. */
export const updatedPhoneNumber = phoneNumber.extend({ phone_number_id: id.nullish() });
/** A number after it was assigned (operation 13). */
export type UpdatedPhoneNumber = z.infer<typeof updatedPhoneNumber>;

/** Answer of operation 12. */
export const phoneNumberImported = z.looseObject({ phone_number_id: id });
/** Answer of operation 12: the id of the imported number. */
export type PhoneNumberImported = z.infer<typeof phoneNumberImported>;

/** Answer of operation 14. A 2xx without it counts as unknown, not as accepted. */
export const batchCallsPlaced = z.looseObject({ batch_id: id, calls_initiated: z.int().min(0) });
