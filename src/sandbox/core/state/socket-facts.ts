/** What is kept of a conversation over a socket beside what was said. Never changed in place. Times: epoch milliseconds of service time. */
export interface SocketFacts {
  readonly authorizationMethod: 'signed_url' | 'livekit_token';
  readonly textOnly: boolean;
  /** What the client said of itself. */
  readonly sourceInfo: Readonly<Record<string, unknown>> | null;
  readonly contextualUpdates: readonly {
    readonly at: number;
    readonly text: string;
    readonly contextId: string | null;
  }[];
  readonly feedback: readonly {
    readonly at: number;
    readonly eventId: number | null;
    readonly score: 'like' | 'dislike';
  }[];
}

/** Metadata of the conversation's record. */
export function describeSocketFacts(facts: SocketFacts): Record<string, unknown> {
  const { feedback, contextualUpdates } = facts;
  const likes = feedback.filter(({ score }) => score === 'like').length;
  const dislikes = feedback.length - likes;
  return {
    authorization_method: facts.authorizationMethod,
    text_only: facts.textOnly,
    source_info: facts.sourceInfo,
    feedback: { type: 'thumbs', overall_score: overall(likes, dislikes), likes, dislikes },
    contextual_updates: contextualUpdates.map(({ at, text, contextId }) => ({
      time: new Date(at).toISOString(),
      text,
      context_id: contextId,
    })),
  };
}

function overall(likes: number, dislikes: number): 'like' | 'dislike' | null {
  if (likes === dislikes) return null;
  return likes > dislikes ? 'like' : 'dislike';
}
