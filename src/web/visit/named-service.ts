/** Finds the service that a person names in a form. */
import { IncmonError } from '../../domain/error.ts'
import { listServices } from '../../store/service/services.ts'
import type { Visit } from '../page.ts'

/** Returns the services with this ID, name or `namespace/name`. */
export async function namedServices({ own, now }: Visit, name: string) {
  const services = await own.read(listServices, now, true)
  return services.filter((one) => [one.id, one.name, `${one.namespace}/${one.name}`].includes(name))
}

/** Returns the service with this ID, name or `namespace/name`. @throws IncmonError `invalid` if none or several match */
export async function requireNamedService(visit: Visit, name: string) {
  const [service, second] = await namedServices(visit, name)
  if (!service) throw invalid(`There is no service named ${name}. Enter the name that the page Services shows.`)
  if (second) throw invalid(`Several services are named ${name}. Enter namespace/name.`)
  return service
}

function invalid(message: string): IncmonError {
  return new IncmonError('invalid', message)
}
