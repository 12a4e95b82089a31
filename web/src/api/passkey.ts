import { withPasskey, post } from './client.ts'

export const hasPasskeys = 'PublicKeyCredential' in window

/** Creates a passkey and registers its public key (I6). */
export async function registerPasskey(name: string): Promise<void> {
  const ask = () => post('/api/passkeys/challenge', { for: 'register' })
  const asked = await withPasskey(ask)
  const { user } = asked
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: bytesOf(asked.challenge),
      rp: { id: asked.rp_id, name: 'cowork' },
      user: { id: bytesOf(user.id), name: user.name, displayName: user.display_name },
      pubKeyCredParams: asked.algorithms.map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: asked.allow.map((id) => ({ type: 'public-key', id: bytesOf(id) })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    },
  })
  const credential = expectCredential(made)
  const { response } = credential
  if (!(response instanceof AuthenticatorAttestationResponse))
    throw new Error('No passkey was created.')
  const publicKey = response.getPublicKey()
  if (!publicKey) throw new Error('Unsupported key type.')
  await post('/api/passkeys', {
    id: textOf(credential.rawId),
    public_key: textOf(publicKey),
    algorithm: response.getPublicKeyAlgorithm(),
    authenticator_data: textOf(response.getAuthenticatorData()),
    client_data: textOf(response.clientDataJSON),
    name,
  })
}

/** Signs a challenge for one decision, or for settings in this session for 5 minutes. */
export async function assertPasskey(decision?: string) {
  const asked = await post('/api/passkeys/challenge', {
    for: 'assert',
    ...(decision !== undefined && { decision }),
  })
  const given = await navigator.credentials.get({
    publicKey: {
      challenge: bytesOf(asked.challenge),
      rpId: asked.rp_id,
      allowCredentials: asked.allow.map((id) => ({ type: 'public-key', id: bytesOf(id) })),
      userVerification: 'required',
    },
  })
  const credential = expectCredential(given)
  const { response } = credential
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new Error('No passkey was used.')
  return post('/api/passkeys/assert', {
    id: textOf(credential.rawId),
    authenticator_data: textOf(response.authenticatorData),
    client_data: textOf(response.clientDataJSON),
    signature: textOf(response.signature),
  })
}

/** Formats a WebAuthn error for people. */
export function passkeyProblem(error: unknown): string | undefined {
  if (!(error instanceof DOMException)) return undefined
  if (error.name === 'NotAllowedError') return 'Canceled or timed out. Try again.'
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for you.'
  return error.name === 'SecurityError'
    ? 'Passkeys require http://localhost. Open the console there.'
    : undefined
}

function expectCredential(given: Credential | null): PublicKeyCredential {
  if (!(given instanceof PublicKeyCredential)) throw new Error('The browser returned no passkey.')
  return given
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))

const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
