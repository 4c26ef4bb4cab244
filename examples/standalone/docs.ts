import helmet from '@fastify/helmet'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { script, style } from './reference.ts'

const SELF = ["'self'"]

/** The reference page: everything on it comes from this service, and nothing else is let in. */
export async function docs (app: FastifyInstance, { path }: { path: string }): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: SELF,
        styleSrc: SELF,
        // Icons are part of the style sheets.
        imgSrc: [...SELF, 'data:'],
        connectSrc: SELF,
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"]
      }
    },
    // Whether there is TLS before this service is its operator's to say.
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'no-referrer' }
  })
  // No service of others is asked whether the description is valid.
  await app.register(swaggerUi, {
    routePrefix: path,
    uiConfig: { layout: 'BaseLayout', validatorUrl: null, deepLinking: true, defaultModelsExpandDepth: 0 },
    theme: {
      title: 'Users: the API',
      css: [{ filename: 'own.css', content: style }],
      js: [{ filename: 'own.js', content: script }]
    }
  })
}
