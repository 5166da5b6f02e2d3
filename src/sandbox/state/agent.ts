import type { ConversationConfig, PlatformSettings } from '../schemas/agent-schemas.ts';

/** Never changed in place: an update makes a new one, so that a call keeps the agent it was dialled with. */
export interface Agent {
  readonly agentId: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly config: ConversationConfig;
  readonly platform: PlatformSettings;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface PhoneNumber {
  readonly phoneNumberId: string;
  readonly phoneNumber: string;
  readonly label: string;
  agentId: string | null;
  verified: boolean;
  /** The provider's token as stored: encrypted, and no operation ever reads it back. */
  readonly sealedToken: Buffer | null;
}
