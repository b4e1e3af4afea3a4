module PuppetX
  module Sitelib
    # Parameters that types have in common.
    module Names
      def named_parameter(name)
        newparam(name, namevar: true) do
          desc 'The name.'
          munge(&:downcase)
        end
      end
    end
  end
end
