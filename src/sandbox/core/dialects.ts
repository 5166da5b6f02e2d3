/** What a call may change of an agent whose settings do not say it, as the published API shows it. */
const nothingPermitted = {
  conversation_config_override: {
    agent: { first_message: false, language: false, prompt: { prompt: false, llm: false } },
    conversation: { text_only: false },
    tts: { voice_id: false },
  },
  custom_llm_extra_body: false,
  enable_conversation_initiation_client_data_from_webhook: false,
};

/** One form of the service. Nothing outside this table asks for a dialect by name; routes and fields name the part they belong to. */
export interface DialectFacts {
  says: string;
  /** Where the API key is looked for, the usual header first (gaps A.1). */
  keyHeaders: readonly [string, ...string[]];
  /** It has the batches of the contract and the fields that the contract alone has. */
  contract: boolean;
  /** It has the routes and fields that comparable services have beyond the contract. */
  further: boolean;
  /** How it calls a telephony provider that is not named. */
  provider: string;
  /** Names of providers that it knows; it calls others by `provider`. Null: every name. */
  providers: readonly string[] | null;
  /** Overrides that an agent permits when its settings do not say it; shown before its own. */
  permitted: object;
  /** A record shows a talk that is under way. */
  showsUnfinished: boolean;
  /** A record names an error of a call that nobody answered. */
  unansweredIsError: boolean;
  /** A conversation fails for an override not permitted or a variable missing, unless a setting says otherwise. */
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

/** `spec`: the contract alone; `published`: the API that comparable services publish, alone; `extended`: both. */
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

/** The facts of the dialect that a sandbox is set to. */
export function factsOf({ dialect }: { dialect: Dialect }): DialectFacts {
  return dialectFacts[dialect];
}
