/** Default of an agent without its own settings, as the published API shows it. */
const nothingPermitted = {
  conversation_config_override: {
    agent: { first_message: false, language: false, prompt: { prompt: false, llm: false } },
    conversation: { text_only: false },
    tts: { voice_id: false },
  },
  custom_llm_extra_body: false,
  enable_conversation_initiation_client_data_from_webhook: false,
};

/** One form of the service. Other code reads these facts, never a dialect's name. */
export interface DialectFacts {
  says: string;
  /** Headers checked for the API key, the usual one first (gaps A.1). */
  keyHeaders: readonly [string, ...string[]];
  /** Serves the contract's batches and contract-only fields. */
  contract: boolean;
  /** Serves what comparable services have beyond the contract. */
  further: boolean;
  /** Name for an unnamed telephony provider. */
  provider: string;
  /** Known provider names; others are shown as `provider`. Null: any name. */
  providers: readonly string[] | null;
  /** Overrides permitted by default; shown before the agent's own. */
  permitted: object;
  /** Records show a talk in progress. */
  showsUnfinished: boolean;
  /** Records show an error for an unanswered call. */
  unansweredIsError: boolean;
  /** A forbidden override or missing variable fails a conversation, unless configured otherwise. */
  strictStart: boolean;
}

const contractOnly: DialectFacts = {
  says: 'This is the `spec` dialect: nothing beyond the contract is accepted, and only the gaps that must be filled are.',
  keyHeaders: ['x-api-key'],
  contract: true,
  further: false,
  provider: 'telephony',
  providers: null,
  permitted: {},
  showsUnfinished: true,
  unansweredIsError: false,
  strictStart: false,
};

/** `spec`: the contract; `published`: the API of comparable services; `extended`: both. */
export const dialectFacts = {
  spec: contractOnly,
  extended: {
    ...contractOnly,
    says: 'This is the `extended` dialect: the contract, and beside it what comparable services are known to have.',
    keyHeaders: ['x-api-key', 'xi-api-key'],
    further: true,
  },
  published: {
    says: 'This is the `published` dialect: what comparable services are known to have, without the batches of the contract.',
    keyHeaders: ['xi-api-key'],
    contract: false,
    further: true,
    provider: 'twilio',
    providers: ['twilio', 'sip_trunk', 'exotel'],
    permitted: { overrides: nothingPermitted },
    showsUnfinished: false,
    unansweredIsError: true,
    strictStart: true,
  },
} as const satisfies Record<string, DialectFacts>;

export type Dialect = keyof typeof dialectFacts;

export const dialects = Object.keys(dialectFacts) as Dialect[];

export function factsOf({ dialect }: { dialect: Dialect }): DialectFacts {
  return dialectFacts[dialect];
}
