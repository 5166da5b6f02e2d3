import type { ConversationConfig, PlatformSettings, Workflow } from '../../schemas/agent-schemas.ts';

/** Never changed in place: an update makes a new one, so that a call keeps the agent it was dialled with. */
export interface Agent {
  readonly agentId: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly config: ConversationConfig;
  readonly platform: PlatformSettings;
  readonly workflow?: Workflow;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const numberTypes = ['purchased', 'verified_caller_id'] as const;
export type NumberType = (typeof numberTypes)[number];

export interface PhoneNumber {
  readonly phoneNumberId: string;
  readonly phoneNumber: string;
  readonly label: string;
  readonly type: NumberType;
  readonly provider: string;
  readonly accountSid: string | null;
  agentId: string | null;
  verified: boolean;
  /** The provider's token as stored: encrypted, and no operation ever reads it back. */
  readonly sealedToken: Buffer | null;
}

/** Purchased numbers take calls; a verified caller id, which is not owned, can only be shown when calling out (contract, number types). */
export function takesInbound({ type }: PhoneNumber): boolean {
  return type === 'purchased';
}
