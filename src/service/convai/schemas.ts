import { z } from 'zod';

// Unknown fields are kept, optional ones may be missing, documented ones must have their documented type.

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
/** An agent in a list (operation 2); fields beyond the contract are kept. */
export type AgentSummary = z.infer<typeof agentSummary>;

/** Answer of operations 3 and 4. The contract does not guarantee `agent_id`. */
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
/** The client adds `conversation_id` when the answer lacks it, as the documented one does. */
export type ConversationRecord = z.infer<typeof conversationRecord> & { conversation_id: string };

/** One entry of operation 7. */
export const conversationEntry = z.looseObject({ conversation_id: id, metadata: someObject.nullish() });
/** A conversation in a list (operation 7); `metadata` may have `start_time`. */
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

/** Answer of operation 13. The contract does not guarantee `phone_number_id`. */
export const updatedPhoneNumber = phoneNumber.extend({ phone_number_id: id.nullish() });
/** A number after its assignment (operation 13). */
export type UpdatedPhoneNumber = z.infer<typeof updatedPhoneNumber>;

/** Answer of operation 12. */
export const phoneNumberImported = z.looseObject({ phone_number_id: id });
/** Answer of operation 12: the id of the imported number. */
export type PhoneNumberImported = z.infer<typeof phoneNumberImported>;

/** Answer of operation 14. A 2xx without it counts as unknown, not accepted. */
export const batchCallsPlaced = z.looseObject({ batch_id: id, calls_initiated: z.int().min(0) });

// Checks only what the contract names; unknown fields pass in `conversation_config` alone. `name` and `tags` of an update and
// `platform_settings` are beyond the contract: services that do not know them refuse the request.

const nonEmpty = z.string().min(1);
const e164 = z.string().regex(/^\+[1-9]\d{1,14}$/, 'must be an E.164 number: + and 2 to 15 digits');
const extraHeaders = z.record(z.string(), z.string());

const customLlmAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const temperature = z.number().min(0).max(1);
const prompt = z.looseObject({ prompt: z.string().optional() });
const platformSettings = z.looseObject({});

/** `custom_llm` differs between a new agent and one call. */
function llmOf<CustomLlm extends z.ZodType>(customLlm: CustomLlm) {
  return z.looseObject({
    model_id: nonEmpty.optional(),
    temperature: temperature.optional(),
    custom_llm: customLlm.optional(),
  });
}

function settingsOf<Tts extends z.ZodType, Llm extends z.ZodType>(tts: Tts, llm: Llm) {
  const agent = z.looseObject({
    first_message: z.string().optional(),
    prompt: prompt.optional(),
    llm: llm.optional(),
  });
  return z.looseObject({ tts: tts.optional(), agent: agent.optional() });
}

/** Any settings, for one call. */
const configOverride = settingsOf(
  z.looseObject({ voice_id: nonEmpty.optional(), model_id: nonEmpty.optional() }),
  llmOf(z.looseObject({ url: customLlmAddress.optional(), extra_headers: extraHeaders.optional() })),
);

const newConversationConfig = settingsOf(
  z.looseObject({ voice_id: nonEmpty, model_id: nonEmpty.optional() }),
  llmOf(z.looseObject({ url: customLlmAddress, extra_headers: extraHeaders.optional() })).refine(
    (llm) => llm.model_id !== 'custom' || llm.custom_llm !== undefined,
    { path: ['custom_llm'], error: 'is required when model_id is "custom"' },
  ),
);

/** Omitted fields stay, null clears a field. */
const configChange = z.looseObject({
  tts: z.looseObject({ voice_id: nonEmpty.nullish(), model_id: nonEmpty.nullish() }).nullish(),
  agent: z
    .looseObject({
      first_message: z.string().nullish(),
      prompt: z.looseObject({ prompt: z.string().nullish() }).nullish(),
      llm: z
        .looseObject({
          model_id: nonEmpty.nullish(),
          temperature: temperature.nullish(),
          custom_llm: z
            .looseObject({
              url: customLlmAddress.nullish(),
              extra_headers: z.record(z.string(), z.string().nullable()).nullish(),
            })
            .nullish(),
        })
        .nullish(),
    })
    .nullish(),
});

/** Body of operation 1. Unknown fields are refused before sending. */
export const createAgentRequest = z.strictObject({
  name: nonEmpty,
  tags: z.array(z.string()).optional(),
  conversation_config: newConversationConfig.optional(),
  platform_settings: platformSettings.optional(),
});
/** Body of operation 1; only `name` is required. */
export type CreateAgentRequest = z.input<typeof createAgentRequest>;

/** Body of operation 4. A missing field keeps its value; null clears a field of `conversation_config`. */
export const updateAgentRequest = z.strictObject({
  name: nonEmpty.optional(),
  tags: z.array(z.string()).optional(),
  conversation_config: configChange.optional(),
  platform_settings: platformSettings.optional(),
});
/** Body of operation 4: the settings that change. */
export type UpdateAgentRequest = z.input<typeof updateAgentRequest>;

/** Body of operation 12; all fields are required. */
export const importPhoneNumberRequest = z.strictObject({
  label: nonEmpty,
  phone_number: e164,
  telephony_account_sid: nonEmpty,
  telephony_auth_token: nonEmpty,
});
/** Body of operation 12. `phone_number` is in E.164 form; `telephony_auth_token` is a secret. */
export type ImportPhoneNumberRequest = z.input<typeof importPhoneNumberRequest>;

/** Body of operation 13. */
export const assignPhoneNumberRequest = z.strictObject({ agent_id: nonEmpty });
/** Body of operation 13: the agent that answers the number from now on. */
export type AssignPhoneNumberRequest = z.input<typeof assignPhoneNumberRequest>;

/** Settings of one call that override its agent's (operation 14). */
export type ConversationConfigOverride = z.input<typeof configOverride>;

/** One call of operation 14. `to_phone_number` is in E.164 form. */
export interface BatchCall {
  to_phone_number: string;
  conversation_config_override?: ConversationConfigOverride;
  /**
   * Variables: name to string, number or boolean. The contract names no key for them, so any further key may carry them, and nothing else.
   */
  [variablesKey: string]: unknown;
}

/** Body of operation 14: one agent, one caller number, at least one call. */
export type BatchCallsRequest = {
  agent_id: string;
  from_phone_number_id: string;
  calls: BatchCall[];
};

const variables = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** Body of operation 14; `calls` may not be empty. */
export const batchCallsRequest = z.strictObject({
  agent_id: nonEmpty,
  from_phone_number_id: nonEmpty,
  calls: z.array(z.object({ to_phone_number: e164, conversation_config_override: configOverride.optional() }).catchall(variables)).min(1),
});
