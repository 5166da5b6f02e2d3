/** The operations of the service by name, with their numbers in the contract. */
export const operations = {
  create_agent: { number: 1, method: 'POST', path: '/v1/convai/agents' },
  list_agents: { number: 2, method: 'GET', path: '/v1/convai/agents' },
  get_agent: { number: 3, method: 'GET', path: '/v1/convai/agents/:agent_id' },
  update_agent: { number: 4, method: 'PATCH', path: '/v1/convai/agents/:agent_id' },
  delete_agent: { number: 5, method: 'DELETE', path: '/v1/convai/agents/:agent_id' },
  get_conversation: { number: 6, method: 'GET', path: '/v1/convai/conversations/:conversation_id' },
  list_conversations: { number: 7, method: 'GET', path: '/v1/convai/conversations' },
  delete_conversation: { number: 8, method: 'DELETE', path: '/v1/convai/conversations/:conversation_id' },
  get_signed_url: { number: 9, method: 'GET', path: '/v1/convai/conversation/get-signed-url' },
  get_token: { number: 10, method: 'GET', path: '/v1/convai/conversation/token' },
  list_phone_numbers: { number: 11, method: 'GET', path: '/v1/convai/phone-numbers' },
  import_phone_number: { number: 12, method: 'POST', path: '/v1/convai/phone-numbers' },
  assign_phone_number: { number: 13, method: 'PATCH', path: '/v1/convai/phone-numbers/:phone_number_id' },
  batch_calls: { number: 14, method: 'POST', path: '/v1/convai/phone-numbers/batch-calls' },
} as const;

export type OperationName = keyof typeof operations;

export const operationNames = Object.keys(operations) as OperationName[];

export function operationByNumber(number: number): OperationName | undefined {
  return operationNames.find((name) => operations[name].number === number);
}

/** What the extended dialect serves at a path of the contract, beside the contract's own operations. */
export const deleteNumber = { method: 'DELETE', path: '/v1/convai/phone-numbers/:phone_number_id' } as const;

/** Methods that a path of the contract has in this dialect; empty when the contract does not know the path. */
export function allowedMethods(pathname: string, dialect: 'spec' | 'extended'): string[] {
  const beyond = dialect === 'extended' ? [deleteNumber] : [];
  const matching = [...operationNames.map((name) => operations[name]), ...beyond].filter(({ path }) =>
    new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname),
  );
  // Fixed paths win over those with a parameter, as in the router.
  const fixed = matching.filter(({ path }) => path === pathname);
  return [...new Set((fixed.length > 0 ? fixed : matching).map(({ method }) => method))];
}
