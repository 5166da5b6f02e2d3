import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';

/** A record that says nothing but its id, with the facts that a test names. */
export function conversationRecord(facts: Partial<ConversationFacts> = {}): ConversationFacts {
  return {
    conversationId: 'conv_1',
    agentId: null,
    direction: null,
    calleeNumber: null,
    batchId: null,
    references: [],
    status: null,
    startedAt: null,
    endedAt: null,
    durationMs: null,
    callResult: null,
    terminationReason: null,
    hasTranscript: false,
    openingLine: null,
    agentTurns: 0,
    userTurns: 0,
    audio: null,
    collected: null,
    evaluation: null,
    ...facts,
  };
}
