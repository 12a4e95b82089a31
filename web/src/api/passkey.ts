import { withPasskey, post } from './client.ts'

export const hasPasskeys = 'PublicKeyCredential' in window

/** Creates a passkey and registers its public key (I6). */
export async function registerPasskey(name: string): Promise<void> {
  const requestChallenge = () => post('/api/passkeys/challenge', { for: 'register' })
  const challenge = await withPasskey(requestChallenge)
  const { user } = challenge
  const created = await navigator.credentials.create({
    publicKey: {
      challenge: fromBase64Url(challenge.challenge),
      rp: { id: challenge.rp_id, name: 'cowork' },
      user: { id: fromBase64Url(user.id), name: user.name, displayName: user.display_name },
      pubKeyCredParams: challenge.algorithms.map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: challenge.allow.map((id) => ({
        type: 'public-key',
        id: fromBase64Url(id),
      })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    },
  })
  const credential = expectCredential(created)
  const { response } = credential
  if (!(response instanceof AuthenticatorAttestationResponse))
    throw new Error('No passkey was created.')
  const publicKey = response.getPublicKey()
  if (!publicKey) throw new Error('Unsupported key type.')
  await post('/api/passkeys', {
    id: toBase64Url(credential.rawId),
    public_key: toBase64Url(publicKey),
    algorithm: response.getPublicKeyAlgorithm(),
    authenticator_data: toBase64Url(response.getAuthenticatorData()),
    client_data: toBase64Url(response.clientDataJSON),
    name,
  })
}

/** Signs a challenge for one decision, or for settings in this session for 5 minutes. */
export async function assertPasskey(decision?: string) {
  const challenge = await post('/api/passkeys/challenge', {
    for: 'assert',
    ...(decision !== undefined && { decision }),
  })
  const result = await navigator.credentials.get({
    publicKey: {
      challenge: fromBase64Url(challenge.challenge),
      rpId: challenge.rp_id,
      allowCredentials: challenge.allow.map((id) => ({
        type: 'public-key',
        id: fromBase64Url(id),
      })),
      userVerification: 'required',
    },
  })
  const credential = expectCredential(result)
  const { response } = credential
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new Error('No passkey was used.')
  return post('/api/passkeys/assert', {
    id: toBase64Url(credential.rawId),
    authenticator_data: toBase64Url(response.authenticatorData),
    client_data: toBase64Url(response.clientDataJSON),
    signature: toBase64Url(response.signature),
  })
}

/** Formats a WebAuthn error for people. */
export function formatPasskeyError(error: unknown): string | undefined {
  if (!(error instanceof DOMException)) return undefined
  if (error.name === 'NotAllowedError') return 'Canceled or timed out. Try again.'
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for you.'
  return error.name === 'SecurityError'
    ? 'Passkeys require http://localhost. Open the console there.'
    : undefined
}

function expectCredential(value: Credential | null): PublicKeyCredential {
  if (!(value instanceof PublicKeyCredential)) throw new Error('The browser returned no passkey.')
  return value
}

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))

const toBase64Url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
